//! Derive macros, `userdata_impl` and `chunk!`.
#![cfg(feature = "macros")]

use perilune::{Error, FromLua, Lua, Result, UserData, Value, chunk, userdata_impl};

#[derive(Clone, Debug, Default, PartialEq, FromLua, UserData)]
struct Account {
    owner: String,
    #[lua(get)]
    balance: i64,
    #[lua(set, name = "pin")]
    code: u16,
    #[lua(skip)]
    log: Vec<String>,
    r#type: Option<u8>,
}

#[userdata_impl]
impl Account {
    const CURRENCY: &str = "EUR";
    #[lua(meta, name = "__version")]
    const VERSION: u32 = 3;
    #[lua(skip)]
    const SECRET: u32 = 4;

    #[lua(infallible)]
    fn new(owner: &str) -> Account {
        Account { owner: owner.to_owned(), ..Account::default() }
    }

    fn pay(&mut self, amount: i64) -> Result<i64> {
        if amount < 0 {
            return Err(Error::runtime("nothing to pay"));
        }
        self.balance += amount;
        self.log.push(format!("{amount}"));
        Ok(self.balance)
    }

    #[lua(getter, infallible)]
    fn entries(&self) -> usize {
        self.log.len()
    }

    #[lua(getter, name = "state")]
    fn globals(&self, lua: &Lua) -> Result<Value> {
        lua.globals().get("state")
    }

    #[lua(setter, infallible)]
    fn alias(&mut self, name: Option<&str>) {
        self.owner = name.unwrap_or("unknown").to_owned();
    }

    #[lua(field)]
    fn bank() -> &'static str {
        "Moon"
    }

    fn close(self) -> Result<(String, i64)> {
        Ok((self.owner, self.balance + i64::from(Self::SECRET) - 4))
    }

    #[lua(infallible)]
    fn give(&mut self, to: &mut Self, amount: i64) {
        self.balance -= amount;
        to.balance += amount;
    }

    #[lua(infallible)]
    fn richer(&self, than: Option<&Account>) -> bool {
        than.is_none_or(|other| self.balance > other.balance)
    }

    #[lua(infallible)]
    fn digest(_lua: &Lua, bytes: &[u8]) -> u64 {
        bytes.iter().map(|b| u64::from(*b)).sum()
    }

    #[lua(meta, infallible)]
    fn __tostring(&self) -> String {
        format!("{}: {}", self.owner, self.balance)
    }

    #[lua(meta, name = "__lt", infallible)]
    fn less(a: &Account, b: &Account) -> bool {
        a.balance < b.balance
    }

    #[cfg(any())]
    fn absent(&self) -> Absent {
        Absent
    }

    #[lua(skip)]
    fn hidden(&self) -> usize {
        self.log.len()
    }
}

#[userdata_impl]
impl Account {
    #[lua(infallible)]
    fn more(lua: Lua, n: i64) -> i64 {
        n + lua.globals().raw_len() as i64 + Account::default().hidden() as i64
    }
}

fn lua() -> Lua {
    let lua = Lua::new();
    lua.globals().set("Account", lua.create_proxy::<Account>().unwrap()).unwrap();
    lua
}

#[test]
fn fields_and_methods() -> Result<()> {
    let lua = lua();
    lua.globals().set("state", "here")?;
    lua.load(
        r#"
        local a = Account.new("Ada")
        assert(a.owner == "Ada" and a.balance == 0 and a.type == nil)
        a.owner, a.type = "Eve", 7
        assert(a.owner == "Eve" and a.type == 7)
        assert(not pcall(function() a.balance = 1 end) and not pcall(function() a.type = 300 end))
        a.pin = 1234
        assert(a.pin == nil and a.log == nil and a.code == nil)
        assert(a:pay(5) == 5 and a:pay(6) == 11 and a.entries == 2 and a.state == "here")
        local ok, e = pcall(a.pay, a, -1)
        assert(not ok and tostring(e):find("nothing to pay"))
        a.alias = "Bo" assert(a.owner == "Bo")
        a.alias = nil assert(a.owner == "unknown")
        assert(a.CURRENCY == "EUR" and a.bank == "Moon")
        assert(a.SECRET == nil and a.hidden == nil and a.absent == nil)
        local b = Account.new("Cy")
        a:give(b, 4)
        assert(a.balance == 7 and b.balance == 4 and b < a and not (a < b))
        assert(a:richer(b) and b:richer())
        assert(tostring(a) == "unknown: 7" and Account.digest("\1\2") == 3 and Account.more(4) == 4)
        local name, n = b:close()
        assert(name == "Cy" and n == 4 and not pcall(b.pay, b, 1))
        -- one borrow for writing at a time
        assert(not pcall(a.give, a, a, 1))
        "#,
    )
    .exec()?;
    let u = lua.create_userdata(Account::new("x"))?;
    assert_eq!(u.metatable()?.get::<u32>("__version")?, 3);
    Ok(())
}

#[test]
fn values_are_cloned_out() -> Result<()> {
    let lua = lua();
    let account = Account { balance: 3, log: vec!["x".to_owned()], ..Account::new("A") };
    let u = lua.create_userdata(account.clone())?;
    assert_eq!(lua.unpack::<Account>(Value::UserData(u.clone()))?, account);
    let e = lua.unpack::<Account>(Value::Integer(1)).unwrap_err();
    assert!(
        matches!(&e, Error::FromLuaConversionError { from: "integer", to, .. } if to == "Account"),
        "{e:?}"
    );
    let writing = u.borrow_mut::<Account>()?;
    assert!(lua.unpack::<Account>(Value::UserData(u.clone())).is_err());
    drop(writing);
    let other = lua.create_any_userdata(5i32)?;
    assert!(lua.unpack::<Account>(Value::UserData(other)).is_err());
    Ok(())
}

#[derive(UserData)]
enum Light {
    Red,
    Green,
}

#[userdata_impl]
impl Light {
    #[lua(infallible)]
    fn next(&self) -> Light {
        match self {
            Light::Red => Light::Green,
            Light::Green => Light::Red,
        }
    }

    #[lua(infallible)]
    fn is_red(&self) -> bool {
        matches!(self, Light::Red)
    }
}

#[derive(UserData)]
#[allow(dead_code)]
struct Bare(u8);

#[test]
fn other_types() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("light", Light::Red)?;
    lua.globals().set("bare", Bare(1))?;
    lua.load(
        "assert(light:is_red() and not light:next():is_red()) assert(not pcall(function() \
              return bare[1] end))",
    )
    .exec()
}

#[test]
fn quoted_chunks() -> Result<()> {
    let lua = Lua::new();
    let (n, text, list) = (4, String::from("four"), vec![1, 2, 3]);
    let r: (i64, String) = lua
        .load(chunk! {
            local t = {x = $n, ["y z"] = #$list, [3] = $n ~= 4}
            if t.x == $n and not t[3] then
                goto done
            end
            error("not reached")
            ::done::
            made = $text .. "\n" -- a comment
            return t.x + t["y z"], made
        })
        .call(())?;
    assert_eq!(r, (7, "four\n".to_owned()));
    // names that are not captured are globals, for reading and writing
    assert_eq!(lua.globals().get::<String>("made")?, "four\n");
    assert!(lua.globals().get::<Value>("n")?.is_nil());
    lua.load(chunk! { assert(made == "four\n"); other = 1.5e1 }).exec()?;
    assert_eq!(lua.globals().get::<f64>("other")?, 15.0);
    assert_eq!(
        lua.load(chunk! { 2^3 // a comment of Rust
        + 1 })
            .eval::<f64>()?,
        9.0
    );
    // line numbers are those of the file, counted from the first token
    let e = lua
        .load(chunk! {
            local a = 1

            error("here")
        })
        .set_name("=c")
        .exec()
        .unwrap_err();
    assert!(e.to_string().contains("c:3: here"), "{e}");
    let e = lua.load(chunk! { local = 1 }).exec().unwrap_err();
    assert!(matches!(e, Error::SyntaxError { .. }));
    Ok(())
}

#[cfg(feature = "async")]
mod waiting {
    use super::*;

    #[derive(UserData)]
    struct Counter {
        n: u64,
    }

    #[userdata_impl]
    impl Counter {
        async fn slow(&self, by: u64) -> Result<u64> {
            tokio::task::yield_now().await;
            Ok(self.n * by)
        }

        #[lua(infallible)]
        async fn add(&mut self, lua: &Lua, other: &Counter) {
            tokio::task::yield_now().await;
            self.n += other.n + lua.globals().raw_len() as u64;
        }

        #[lua(infallible)]
        async fn take(self) -> u64 {
            self.n
        }

        async fn make(lua: Lua, n: Option<&str>) -> Result<Counter> {
            tokio::task::yield_now().await;
            Ok(Counter { n: n.map_or(0, str::len) as u64 + lua.globals().raw_len() as u64 })
        }

        #[lua(meta, infallible)]
        async fn __call(&self, n: u64) -> u64 {
            self.n + n
        }
    }

    #[tokio::test]
    async fn methods_wait() -> Result<()> {
        let lua = Lua::new();
        lua.globals().set("Counter", lua.create_proxy::<Counter>()?)?;
        lua.load(
            "local a, b = Counter.make('xyz'), Counter.make()
             assert(a:slow(2) == 6)
             b.n = 4
             b:add(a)
             assert(b.n == 7 and b(1) == 8 and a:take() == 3 and not pcall(a.slow, a, 1))",
        )
        .exec_async()
        .await
    }
}

/// A program may use names of the prelude for its own items.
mod names_of_the_prelude {
    use perilune::{Lua, Result, UserData, userdata_impl};

    #[derive(UserData)]
    struct Some;

    #[userdata_impl]
    impl Some {
        #[lua(infallible)]
        fn one(&self) -> i64 {
            1
        }
    }

    #[test]
    fn are_free() -> Result<()> {
        let lua = Lua::new();
        lua.globals().set("s", Some)?;
        assert_eq!(lua.load("return s:one()").eval::<i64>()?, 1);
        Ok(())
    }
}

#[test]
fn chunks_in_macros() -> Result<()> {
    macro_rules! or_else {
        ($name:ident, $other:ident) => {
            chunk! { return $name or $other == 5 and 1 .. "" }
        };
    }
    let lua = Lua::new();
    lua.globals().set("other", 5)?;
    assert_eq!(lua.load(or_else!(name, other)).eval::<String>()?, "1");
    lua.globals().set("name", "set")?;
    assert_eq!(lua.load(or_else!(name, other)).eval::<String>()?, "set");
    Ok(())
}
