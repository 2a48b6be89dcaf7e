//! Userdata whose values the host shares through pointers.

#[cfg(not(feature = "send"))]
use std::cell::RefCell;
use std::sync::{Arc, Mutex, RwLock};

use perilune::{
    AnyUserData, Error, Lua, MetaMethod, Result, UserData, UserDataFields, UserDataMethods,
    UserDataRef,
};

struct Account {
    balance: i64,
}

impl UserData for Account {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field("currency", "EUR");
        fields.add_field_method_get("balance", |_, this| Ok(this.balance));
        fields.add_field_method_set("balance", |_, this, n| {
            this.balance = n;
            Ok(())
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_function("open", |_, balance: i64| Ok(Account { balance }));
        methods.add_method("plus", |_, this, n: i64| Ok(this.balance + n));
        methods.add_method_mut("pay", |_, this, n: i64| {
            this.balance += n;
            Ok(this.balance)
        });
        // calls back while the value is held
        methods.add_method("with", |_, this, f: perilune::Function| f.call::<i64>(this.balance));
        methods.add_method("sum", |_, this, other: UserDataRef<Account>| {
            Ok(this.balance + other.balance)
        });
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
            Ok(format!("{} EUR", this.balance))
        });
    }
}

/// Tests the common behaviour of all kinds of pointers. `plain` says that writing requires that
/// there is only one pointer, `twice` that a method and an argument can read the value at the same
/// time.
fn check<T: UserData + perilune::MaybeSend + perilune::MaybeSync + Clone + 'static>(
    value: T,
    plain: bool,
    twice: bool,
) -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("a", value.clone())?;
    lua.load(
        "assert(a.currency == 'EUR' and a.balance == 10 and a:plus(5) == 15 and tostring(a) == '10 \
         EUR')
         assert(a.open(3).balance == 3 and a:sum(a.open(1)) == 11)",
    )
    .exec()?;
    let again =
        lua.load("assert(a:with(function(n) return a:plus(n) end) == 20 and a:sum(a) == 20)");
    assert_eq!(again.exec().is_ok(), twice);
    let any: AnyUserData = lua.globals().get("a")?;
    assert!(any.is::<T>() && !any.is::<Account>());
    assert_eq!(any.borrow_scoped(|a: &Account| a.balance)?, 10);
    let pay = lua.load("a:pay(1) a.balance = a.balance + 1 return a.balance");
    if plain {
        assert!(pay.exec().unwrap_err().to_string().contains("error mutably borrowing userdata"));
        assert!(matches!(any.borrow_mut::<Account>(), Err(Error::UserDataBorrowMutError)));
        drop(value);
    } else {
        assert_eq!(pay.eval::<i64>()?, 12);
        any.borrow_mut_scoped(|a: &mut Account| a.balance = 10)?;
    }
    assert_eq!(lua.load("return a:pay(1)").eval::<i64>()?, 11);
    // an error and a panic release the borrow
    assert!(lua.load("a:pay('much')").exec().is_err());
    assert!(lua.load("a:with(error)").exec().is_err());
    assert!(lua.load("a.pay(1, 2)").exec().unwrap_err().to_string().contains("Account.pay"));
    assert_eq!(lua.load("return a:pay(1)").eval::<i64>()?, 12);
    drop(any.take::<T>()?);
    assert!(lua.load("a:pay(1)").exec().unwrap_err().to_string().contains("destructed"));
    Ok(())
}

#[test]
fn all_kinds_have_what_the_value_has() -> Result<()> {
    let account = || Account { balance: 10 };
    #[cfg(not(feature = "send"))]
    {
        check(std::rc::Rc::new(account()), true, true)?;
        check(std::rc::Rc::new(RefCell::new(account())), false, true)?;
    }
    check(Arc::new(account()), true, true)?;
    check(Arc::new(Mutex::new(account())), false, false)?;
    // guards of std's locks stay on their thread, so an argument cannot hold one where threads
    // share states
    check(Arc::new(RwLock::new(account())), false, !cfg!(feature = "send"))
}

/// A userdata of a scope holds the pointer, and has the methods of the value, too.
#[test]
fn pointers_in_scopes() -> Result<()> {
    fn check<T: UserData + 'static>(lua: &Lua, value: T, plain: bool) -> Result<()> {
        lua.scope(|scope| {
            let account = scope.create_userdata(value)?;
            lua.globals().set("a", account)?;
            lua.load(
                "assert(a.currency == 'EUR' and a.balance == 10 and a:plus(5) == 15)
                 assert(tostring(a) == '10 EUR' and a:with(function(n) return n end) == 10)
                 kept = a.plus",
            )
            .exec()?;
            let pay = lua.load("a:pay(1) a.balance = a.balance + 1 return a.balance");
            match pay.eval::<i64>() {
                Err(e) if plain => {
                    assert!(e.to_string().contains("error mutably borrowing userdata"), "{e}");
                }
                balance => assert_eq!(balance?, 12),
            }
            // methods of one userdata do not apply to another
            let other = scope.create_userdata(Arc::new(Account { balance: 1 }))?;
            lua.globals().set("other", other)?;
            let why = lua.load("return kept(other, 1)").exec().unwrap_err().to_string();
            assert!(why.contains("Account.plus"), "{why}");
            let why = lua.load("return kept(1, 1)").exec().unwrap_err().to_string();
            assert!(why.contains("expected userdata of type 'Account'"), "{why}");
            Ok(())
        })?;
        let why = lua.load("return a:plus(1)").exec().unwrap_err().to_string();
        assert!(why.contains("destructed"), "{why}");
        Ok(())
    }
    let lua = Lua::new();
    let account = || Account { balance: 10 };
    #[cfg(not(feature = "send"))]
    {
        let shared = std::rc::Rc::new(RefCell::new(account()));
        check(&lua, shared.clone(), false)?;
        assert_eq!((shared.borrow().balance, std::rc::Rc::strong_count(&shared)), (12, 1));
        check(&lua, std::rc::Rc::new(account()), false)?;
    }
    let shared = Arc::new(account());
    check(&lua, shared.clone(), true)?;
    assert_eq!(Arc::strong_count(&shared), 1);
    check(&lua, Arc::new(Mutex::new(account())), false)?;
    check(&lua, Arc::new(RwLock::new(account())), false)
}

#[test]
fn the_host_and_lua_see_one_value() -> Result<()> {
    let lua = Lua::new();
    let account = Arc::new(RwLock::new(Account { balance: 1 }));
    lua.globals().set("a", account.clone())?;
    let read = account.read().unwrap();
    assert_eq!(lua.load("return a.balance").eval::<i64>()?, 1);
    let why = lua.load("a:pay(1)").exec().unwrap_err();
    assert!(why.to_string().contains("error mutably borrowing userdata"), "{why}");
    drop(read);
    let write = account.write().unwrap();
    assert!(lua.load("return a.balance").exec().is_err());
    drop(write);
    account.write().unwrap().balance = 7;
    assert_eq!(lua.load("return a.balance").eval::<i64>()?, 7);
    lua.globals().set("a", perilune::Nil)?;
    lua.gc_collect()?;
    lua.gc_collect()?;
    assert_eq!(Arc::strong_count(&account), 1);
    Ok(())
}

#[test]
#[cfg(not(feature = "send"))]
fn borrows_of_the_host_hold_the_value() -> Result<()> {
    use std::rc::Rc;

    let lua = Lua::new();
    let account = Rc::new(RefCell::new(Account { balance: 1 }));
    let any = lua.create_userdata(account.clone())?;
    let shared = any.borrow::<Account>()?;
    assert!(account.try_borrow_mut().is_err() && account.try_borrow().is_ok());
    assert!(matches!(any.borrow_mut::<Account>(), Err(Error::UserDataBorrowMutError)));
    drop(shared);
    let mut exclusive = any.borrow_mut::<Account>()?;
    assert!(account.try_borrow().is_err());
    exclusive.balance = 2;
    drop(exclusive);
    assert_eq!(account.borrow().balance, 2);
    // the userdata and its state live as long as the borrow
    let shared = any.borrow::<Account>()?;
    drop((any, lua));
    assert_eq!(shared.balance, 2);
    Ok(())
}

/// Recursion through Lua: each call uses its own value.
#[test]
fn methods_of_several_values_nest() -> Result<()> {
    let lua = Lua::new();
    for (name, balance) in [("a", 1), ("b", 10), ("c", 100)] {
        lua.globals().set(name, Arc::new(RwLock::new(Account { balance })))?;
    }
    let sum: i64 = lua
        .load(
            "return a:with(function(x) return x + b:with(function(y) return y + \
               c:plus(a.balance) + b:plus(0) end) + a.balance end)",
        )
        .eval()?;
    assert_eq!(sum, 1 + 10 + 101 + 10 + 1);
    Ok(())
}
