pub(crate) async unsafe fn write(page: *mut u8) -> Result<(), Error> {
    let __dlock_report = ::dlock::__private::Report::new(
        <Result<(), Error> as ::dlock::FromLockError>::from_lock_error,
        <Result<(), Error> as ::dlock::FromLockError>::is_failure,
    );
    match {
        let __dlock_request = ::dlock::__private::Request::new(
            "page",
            "page",
            ::dlock::__private::LockMode::Write,
        );
        __dlock_request.acquire().await
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            let __dlock_run = __dlock_grant
                .run(async move {
                    if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<
                        Result<(), Error>,
                    > {
                        return __dlock_output;
                    }
                    Ok(())
                });
            match __dlock_run.await {
                ::core::result::Result::Ok(__dlock_output) => __dlock_output,
                ::core::result::Result::Err(__dlock_loss) => {
                    __dlock_report.lost(__dlock_loss)
                }
            }
        }
        ::core::result::Result::Err(__dlock_error) => {
            __dlock_report.refused(__dlock_error)
        }
    }
}
