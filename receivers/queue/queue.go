package queue

import "sync"

// Queue is a first-in, first-out queue. The zero value is empty and ready. It must not be copied after first use.
type Queue[T any] struct {
	mu       sync.Mutex // guards the fields below
	elements []T
	head     int // elements before it are taken
}

// Push appends elements, in order and next to each other.
func (q *Queue[T]) Push(elements ...T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head > 0 && len(q.elements)+len(elements) > cap(q.elements) {
		// Move up instead of growing, so that a queue that stays short does not grow with what passed through it.
		kept := copy(q.elements, q.elements[q.head:])
		clear(q.elements[kept:])
		q.elements, q.head = q.elements[:kept], 0
	}
	q.elements = append(q.elements, elements...)
}

// Pop takes the oldest element. It returns false when the queue is empty.
func (q *Queue[T]) Pop() (T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var zero T
	if q.head == len(q.elements) {
		return zero, false
	}
	element := q.elements[q.head]
	q.elements[q.head] = zero // the queue must not keep it alive
	q.head++
	if q.head == len(q.elements) {
		q.elements, q.head = q.elements[:0], 0
	}
	return element, true
}

// PopAll takes everything, oldest first. It returns nil when the queue is empty. The caller owns the slice.
func (q *Queue[T]) PopAll() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.elements[q.head:]
	q.elements, q.head = nil, 0
	if len(taken) == 0 {
		return nil
	}
	return taken
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.elements) - q.head
}
