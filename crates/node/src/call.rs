//! The frame around every function that JavaScript calls: its arguments, and the barrier that turns failures and
//! panics into JavaScript exceptions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use napi_sys as sys;

use crate::environment::{Environment, environment_at};
use crate::error::{Fallible, check, from_panic};
use crate::exception::throw;
use crate::external::{self, Held};
use crate::value::{Env, Value};

/// The most arguments that a function of ours takes, except the rest parameter of functions that take any number.
const MAX_ARGUMENTS: usize = 6;

/// One call from JavaScript.
pub struct Call<'a> {
    pub env: Env,
    pub environment: &'a Rc<Environment>,
    arguments: [sys::napi_value; MAX_ARGUMENTS],
    /// Number of arguments passed.
    count: usize,
    info: sys::napi_callback_info,
}

impl Call<'_> {
    /// An argument; undefined if it was not passed.
    #[inline]
    pub fn argument(&self, index: usize) -> Value {
        Value::new(self.arguments[index])
    }

    /// The arguments from `first` on, however many were passed. Passing many values this way costs less than an
    /// array, whose elements have to be fetched one by one.
    pub fn arguments_from(&self, first: usize) -> Fallible<Vec<Value>> {
        let mut arguments = vec![ptr::null_mut(); self.count];
        let mut count = self.count;
        // SAFETY: the vector has as many places as `count` says, and the callback is still running.
        check(unsafe {
            sys::napi_get_cb_info(
                self.env.raw(),
                self.info,
                &mut count,
                arguments.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        Ok(arguments.into_iter().skip(first).map(Value::new).collect())
    }

    /// The native object that an argument holds.
    #[inline]
    pub fn held<T: Held>(&self, index: usize) -> Fallible<&T> {
        external::held(self.env, self.argument(index))
    }
}

/// Runs `function` for a call that Node made with `info`.
#[inline]
pub fn enter(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    function: fn(&Call<'_>) -> Fallible<Value>,
) -> sys::napi_value {
    let env = Env::new(env);
    let mut arguments = [ptr::null_mut(); MAX_ARGUMENTS];
    let (mut count, mut data) = (MAX_ARGUMENTS, ptr::null_mut());
    // SAFETY: the array has as many places as `count` says; missing arguments are filled with undefined.
    let status = check(unsafe {
        sys::napi_get_cb_info(env.raw(), info, &mut count, arguments.as_mut_ptr(), ptr::null_mut(), &mut data)
    });
    if let Err(failure) = status {
        throw(env, None, failure);
        return ptr::null_mut();
    }
    // SAFETY: every function is registered with a pointer to its environment's state, which outlives it.
    let environment = unsafe { environment_at(data) };
    let call = Call { env, environment, arguments, count, info };
    // What a panic leaves half done stays invisible: native objects change inside the engine, or as the last step.
    let result = catch_unwind(AssertUnwindSafe(|| function(&call)))
        .unwrap_or_else(|payload| Err(from_panic(&*payload)));
    match result {
        Ok(value) => value.raw(),
        Err(failure) => {
            throw(env, environment.error_factory(env), failure);
            ptr::null_mut()
        }
    }
}

/// Makes a function that Node can call from one that takes a [`Call`].
#[macro_export]
macro_rules! callback {
    ($function:path) => {{
        unsafe extern "C" fn raw(
            env: ::napi_sys::napi_env,
            info: ::napi_sys::napi_callback_info,
        ) -> ::napi_sys::napi_value {
            $crate::call::enter(env, info, $function)
        }
        raw as unsafe extern "C" fn(
            ::napi_sys::napi_env,
            ::napi_sys::napi_callback_info,
        ) -> ::napi_sys::napi_value
    }};
}
