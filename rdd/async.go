package rdd

import "context"

// CollectAsync starts Collect in the background.
//
// Cost and Errors: as Collect, from the future's Wait; an end of ctx cancels it.
func CollectAsync[T any](ctx context.Context, r *RDD[T]) *Future[[]T] {
	return background(ctx, r, func(ctx context.Context, r *RDD[T]) ([]T, error) { return r.Collect(ctx) })
}

// CountAsync starts Count in the background.
//
// Cost and Errors: as Count, from the future's Wait; an end of ctx cancels it.
func CountAsync[T any](ctx context.Context, r *RDD[T]) *Future[int64] {
	return background(ctx, r, func(ctx context.Context, r *RDD[T]) (int64, error) { return r.Count(ctx) })
}

// TakeAsync starts Take in the background.
//
// Cost and Errors: as Take, from the future's Wait; an end of ctx cancels whichever of its jobs runs then.
func TakeAsync[T any](ctx context.Context, r *RDD[T], n int) *Future[[]T] {
	return background(ctx, r, func(ctx context.Context, r *RDD[T]) ([]T, error) { return r.Take(ctx, n) })
}

// ForeachAsync starts Foreach in the background. After Cancel, records that were not reached are not visited.
//
// Order, Cost and Errors: as Foreach, from the future's Wait; an end of ctx cancels it.
func ForeachAsync[T any](ctx context.Context, r *RDD[T], f func(T)) *Future[struct{}] {
	return background(ctx, r, func(ctx context.Context, r *RDD[T]) (struct{}, error) { return struct{}{}, r.Foreach(ctx, f) })
}
