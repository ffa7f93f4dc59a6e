async fn nightly() {
    match {
        let __dlock_request = ::dlock::__private::Request::new(
                "nightly",
                "nightly",
                ::dlock::__private::LockMode::Write,
            )
            .try_once();
        __dlock_request.acquire().await
    } {
        ::core::result::Result::Ok(__dlock_grant) => {
            let __dlock_run = __dlock_grant
                .run(async move {
                    if let ::core::option::Option::Some(__dlock_output) = ::core::option::Option::None::<
                        (),
                    > {
                        return __dlock_output;
                    }
                    clean().await;
                });
            match __dlock_run.await {
                ::core::result::Result::Ok(__dlock_output) => __dlock_output,
                ::core::result::Result::Err(__dlock_loss) => {}
            }
        }
        ::core::result::Result::Err(__dlock_error) => {}
    }
}
