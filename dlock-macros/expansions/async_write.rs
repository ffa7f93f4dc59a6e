#[distributed_lock(key = "order:{order_id}", mode = "write")]
pub async fn ship(order_id: u64, db: &Db) -> Result<Receipt, AppError> {
    db.ship(order_id).await
}
