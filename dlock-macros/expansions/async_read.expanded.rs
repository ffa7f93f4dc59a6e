async fn look() -> anyhow::Result<u64> {
    let __dlock_report = ::dlock::__private::Report::new(
        <anyhow::Result<u64> as ::dlock::FromLockError>::from_lock_error,
        <anyhow::Result<u64> as ::dlock::FromLockError>::is_failure,
    );
    match {
        let __dlock_request = ::dlock::__private::Request::new(
            "stock",
            "stock",
            ::dlock::__private::LockMode::Read,
        );
        __dlock_request.acquire().await
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            let __dlock_run = __dlock_grant
                .run(async move {
                    if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<
                        anyhow::Result<u64>,
                    > {
                        return __dlock_output;
                    }
                    Ok(7)
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
