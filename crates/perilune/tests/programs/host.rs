//! Userdata of the host, the same for Perilune and for mlua: inline caches of their members must
//! not be observable.

macro_rules! host {
    ($api:ident) => {
        pub(crate) mod $api {
            use $api::{
                AnyUserData, Lua, MetaMethod, Result, UserData, UserDataFields, UserDataMethods,
                Value, Variadic,
            };

            /// A type with methods only.
            struct Plain(i64);

            impl UserData for Plain {
                fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
                    methods.add_method("get", |_, this, ()| Ok(this.0));
                    methods.add_method("name", |_, _, ()| Ok("plain"));
                    methods.add_method("same", |_, _, all: Variadic<Value>| Ok(all));
                    methods.add_method_mut("bump", |_, this, ()| {
                        this.0 += 1;
                        Ok(this.0)
                    });
                }
            }

            /// A type with computed fields as well.
            struct Fields(i64);

            impl UserData for Fields {
                fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
                    fields.add_field("unit", "m");
                    fields.add_field_method_get("n", |_, this| Ok(this.0));
                    fields.add_field_method_get("half", |_, this| Ok(this.0 as f64 / 2.0));
                    fields.add_field_method_set("n", |_, this, n: Value| {
                        this.0 = super::integer(n.as_i64(), n.as_f64());
                        Ok(())
                    });
                }

                fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
                    methods.add_method("get", |_, this, ()| Ok(-this.0));
                    methods.add_method("name", |_, _, ()| Ok("fields"));
                    methods.add_method("same", |_, _, all: Variadic<Value>| Ok(all));
                    methods.add_method_mut("bump", |_, this, ()| {
                        this.0 -= 1;
                        Ok(())
                    });
                }
            }

            /// A type with metamethods, including `__index` and `__newindex`.
            struct Rich(i64);

            impl UserData for Rich {
                fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
                    methods.add_method("get", |_, this, ()| Ok(this.0 * 10));
                    methods.add_method("name", |_, _, ()| Ok("rich"));
                    methods.add_method("same", |_, _, all: Variadic<Value>| Ok(all));
                    methods.add_method_mut("bump", |_, this, ()| {
                        this.0 += 2;
                        Ok("bumped")
                    });
                    methods.add_meta_method(MetaMethod::Index, |_, this, _: Value| Ok(this.0));
                    methods.add_meta_method_mut(
                        MetaMethod::NewIndex,
                        |_, this, (_, n): (Value, Value)| {
                            this.0 = super::integer(n.as_i64(), n.as_f64());
                            Ok(())
                        },
                    );
                    methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0));
                    methods.add_meta_method(MetaMethod::Unm, |_, this, ()| Ok(this.0 as f64 / 4.0));
                    methods.add_meta_method(MetaMethod::Call, |_, this, all: Variadic<Value>| {
                        Ok((this.0, all))
                    });
                    methods.add_meta_function(MetaMethod::Add, |_, (_, _): (Value, Value)| Ok(7));
                    methods.add_meta_function(MetaMethod::Lt, |_, (_, _): (Value, Value)| Ok(true));
                    methods.add_meta_function(MetaMethod::Le, |_, (_, _): (Value, Value)| Ok(true));
                    methods.add_meta_function(MetaMethod::Eq, |_, (_, _): (Value, Value)| Ok(true));
                    methods.add_meta_function(MetaMethod::Concat, |_, (_, _): (Value, Value)| {
                        Ok("joined")
                    });
                }
            }

            /// Gives the state the global `host`: a function that creates a userdata of one of the
            /// types. The types are registered here, since mlua runs Lua code for that, which a
            /// program's hook would see.
            pub(crate) fn open(lua: &Lua) -> Result<()> {
                lua.create_userdata(Plain(0))?;
                lua.create_userdata(Fields(0))?;
                lua.create_userdata(Rich(0))?;
                let host = lua.create_function(|lua, (kind, n): (Value, Value)| {
                    let n = super::integer(n.as_i64(), n.as_f64());
                    let made: Result<AnyUserData> = match kind.as_i64().unwrap_or(0) % 3 {
                        0 => lua.create_userdata(Plain(n)),
                        1 => lua.create_userdata(Fields(n)),
                        _ => lua.create_userdata(Rich(n)),
                    };
                    made
                })?;
                lua.globals().set("host", host)
            }
        }
    };
}

host!(mlua);
host!(perilune);

/// Returns a number that a program passes, as an integer.
fn integer(i: Option<i64>, x: Option<f64>) -> i64 {
    i.or(x.map(|x| x as i64)).unwrap_or(0).clamp(-1 << 40, 1 << 40)
}
