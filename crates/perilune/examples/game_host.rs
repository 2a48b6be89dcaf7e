//! A game whose entities are moved by scripts: userdata, one environment per script, coroutines
//! that are resumed once per frame, and errors that stop only one script and not the game.
//!
//!     cargo run -p perilune --example game_host

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perilune::{
    AnyUserData, Error, Function, Lua, MetaMethod, Result, Table, Thread, ThreadStatus, UserData,
    UserDataFields, UserDataMethods,
};

/// Locks a value, even if a thread has panicked while it held the lock.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A point of the map. Scripts do arithmetic with it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

impl UserData for Point {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("x", |_, this| Ok(this.x));
        fields.add_field_method_get("y", |_, this| Ok(this.y));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("length", |_, this, ()| Ok(this.x.hypot(this.y)));
        methods.add_meta_function(MetaMethod::Add, |lua, (a, b): (AnyUserData, AnyUserData)| {
            let (a, b) = (a.borrow::<Point>()?, b.borrow::<Point>()?);
            lua.create_userdata(Point { x: a.x + b.x, y: a.y + b.y })
        });
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
            Ok(format!("({}, {})", this.x, this.y))
        });
    }
}

/// A moving object. The game and its script share it.
struct Entity {
    name: String,
    at: Point,
    health: i64,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Entity>>);

impl UserData for Shared {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("name", |_, this| Ok(locked(&this.0).name.clone()));
        fields.add_field_method_get("health", |_, this| Ok(locked(&this.0).health));
        fields.add_field_method_get("at", |lua, this| lua.create_userdata(locked(&this.0).at));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("move", |_, this, (dx, dy): (f64, f64)| {
            let at = &mut locked(&this.0).at;
            *at = Point { x: at.x + dx, y: at.y + dy };
            Ok(())
        });
        methods.add_method("hurt", |_, this, by: i64| {
            if by < 0 {
                return Err(Error::runtime("harm is not negative"));
            }
            let mut entity = locked(&this.0);
            entity.health = (entity.health - by).max(0);
            Ok(entity.health)
        });
    }
}

/// An entity with its script: `update` is a coroutine that is resumed once per frame.
struct Actor {
    entity: Shared,
    update: Option<Thread>,
    failure: Option<String>,
}

struct Game {
    lua: Lua,
    actors: Vec<Actor>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Game {
    fn new() -> Result<Game> {
        let lua = Lua::new();
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = log.clone();
        lua.globals().set(
            "say",
            lua.create_function(move |_, text: String| {
                locked(&lines).push(text);
                Ok(())
            })?,
        )?;
        let point = lua.create_function(|lua, (x, y)| lua.create_userdata(Point { x, y }))?;
        lua.globals().set("point", point)?;
        // `wait(n)` suspends the script for `n` frames.
        lua.load("function wait(frames) for _ = 1, frames or 1 do coroutine.yield() end end")
            .set_name("=prelude")
            .exec()?;
        Ok(Game { lua, actors: Vec::new(), log })
    }

    /// Creates a table of globals for one script, which inherits the globals that all scripts
    /// share.
    fn environment(&self, entity: &Shared) -> Result<Table> {
        let env = self.lua.create_table()?;
        let meta = self.lua.create_table()?;
        meta.set("__index", self.lua.globals())?;
        env.set_metatable(Some(meta))?;
        env.set("me", entity.clone())?;
        Ok(env)
    }

    fn add(&mut self, name: &str, script: &str) -> Result<()> {
        let at = Point { x: 0.0, y: 0.0 };
        let entity = Entity { name: name.to_owned(), at, health: 10 };
        let entity = Shared(Arc::new(Mutex::new(entity)));
        let env = self.environment(&entity)?;
        let chunk = self.lua.load(script).set_name(format!("={name}"));
        chunk.set_environment(env.clone()).exec()?;
        let update: Function = env.get("update")?;
        let update = Some(self.lua.create_thread(update)?);
        self.actors.push(Actor { entity, update, failure: None });
        Ok(())
    }

    /// Resumes each script until its next `wait`.
    fn frame(&mut self) {
        for actor in &mut self.actors {
            let Some(thread) = &actor.update else { continue };
            if let Err(error) = thread.resume::<()>(()) {
                actor.failure = Some(error.to_string());
            }
            if thread.status() != ThreadStatus::Resumable {
                actor.update = None;
            }
        }
    }
}

const GUARD: &str = r#"
    local home = point(3, 4)
    function update()
        while true do
            for step = 1, 3 do me:move(1, 0) wait() end
            local distance = (me.at + home):length()
            say(me.name .. " is at " .. tostring(me.at) .. ", " .. distance .. " from home")
            for step = 1, 3 do me:move(-1, 0) wait() end
        end
    end"#;

const GHOST: &str = r#"
    function update()
        say "boo"
        wait(2)
        while me:hurt(4) > 0 do wait() end
        say(me.name .. " is gone")
    end"#;

const BROKEN: &str = r#"
    local function attack(target) target:hurt(-1) end
    function update()
        wait(1)
        attack(me)
    end"#;

pub(crate) fn main() -> Result<()> {
    let mut game = Game::new()?;
    game.add("guard", GUARD)?;
    game.add("ghost", GHOST)?;
    game.add("bug", BROKEN)?;
    for _ in 0..8 {
        game.frame();
    }

    for line in locked(&game.log).iter() {
        println!("{line}");
    }
    for actor in &game.actors {
        let entity = locked(&actor.entity.0);
        let state = if actor.update.is_some() { "is running" } else { "has ended" };
        println!("{} at {:?}, health {}: {state}", entity.name, entity.at, entity.health);
        if let Some(failure) = &actor.failure {
            println!("    {}", failure.replace('\n', "\n    "));
        }
    }

    // check the outcome
    let expected = ["boo", "guard is at (3, 0), 7.211102550928 from home", "ghost is gone"];
    assert_eq!(*locked(&game.log), expected);
    let failure = game.actors[2].failure.as_deref().unwrap_or_default();
    assert!(failure.contains("harm is not negative") && failure.contains("bug:2"), "{failure}");
    assert!(game.actors[0].update.is_some() && game.actors[1].update.is_none());
    Ok(())
}
