#[distributed_lock(key = "{self.tenant}:{order_id}", client = self.locks)]
#[tracing::instrument(skip(self))]
async fn ship<'a, T>(&'a mut self, order_id: T) -> Result<&'a mut Receipt, AppError>
where
    T: Display,
{
    self.receipt(order_id).await
}
