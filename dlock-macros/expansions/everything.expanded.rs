async fn ship(
    tenant: &str,
    order: Order,
    mode: LockMode,
    db: &Db,
) -> Result<u64, Error> {
    let __dlock_report = shop::dlock::__private::Report::new(
        <Result<u64, Error> as shop::dlock::FromLockError>::from_lock_error,
        <Result<u64, Error> as shop::dlock::FromLockError>::is_failure,
    );
    match {
        let __dlock_request = shop::dlock::__private::Request::new(
                &::core::format_args!(
                    "{{{__dlock_0}}}:order:{__dlock_1:05}", __dlock_0 = tenant, __dlock_1
                    = order.id
                ),
                "ship",
                mode,
            )
            .client(&db.locks)
            .lease(::core::time::Duration::new(30u64, 0u32))
            .max_hold(LIMIT)
            .linger(::core::time::Duration::new(0u64, 500000000u32))
            .wait(::core::time::Duration::new(0u64, 250000000u32))
            .continue_when_lost();
        __dlock_request.acquire().await
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            let lock = __dlock_grant.held();
            let __dlock_run = __dlock_grant
                .run(async move {
                    if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<
                        Result<u64, Error>,
                    > {
                        return __dlock_output;
                    }
                    Ok(lock.fencing_token().as_u64())
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
