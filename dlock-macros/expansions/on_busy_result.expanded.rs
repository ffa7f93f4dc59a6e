async fn nightly() -> Result<u64, Error> {
    let __dlock_report = ::dlock::__private::Report::new(
        <Result<u64, Error> as ::dlock::FromLockError>::from_lock_error,
        <Result<u64, Error> as ::dlock::FromLockError>::is_failure,
    );
    match {
        let __dlock_request = ::dlock::__private::Request::new(
                "nightly",
                "nightly",
                ::dlock::__private::LockMode::Write,
            )
            .wait(::core::time::Duration::new(5u64, 0u32));
        __dlock_request.acquire().await
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            let __dlock_run = __dlock_grant
                .run(async move {
                    if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<
                        Result<u64, Error>,
                    > {
                        return __dlock_output;
                    }
                    clean().await
                });
            match __dlock_run.await {
                ::core::result::Result::Ok(__dlock_output) => __dlock_output,
                ::core::result::Result::Err(__dlock_loss) => {
                    __dlock_report.lost(__dlock_loss)
                }
            }
        }
        ::core::result::Result::Err(
            __dlock_error,
        ) if ::dlock::__private::is_busy(&__dlock_error) => Ok(0),
        ::core::result::Result::Err(__dlock_error) => {
            __dlock_report.refused(__dlock_error)
        }
    }
}
