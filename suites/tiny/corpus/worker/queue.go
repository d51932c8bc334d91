// Package worker runs jobs in the background.
package worker

import (
	"container/heap"
	"errors"
	"sync"
	"time"
)

// ErrClosed is returned once the queue takes no more jobs.
var ErrClosed = errors.New("queue is closed")

// Job is one piece of work; a higher priority runs first.
type Job struct {
	ID       string
	Priority int
	NotUntil time.Time
	Attempts int
	Run      func() error
}

type jobHeap []*Job

func (h jobHeap) Len() int { return len(h) }

func (h jobHeap) Less(i, j int) bool {
	if h[i].Priority != h[j].Priority {
		return h[i].Priority > h[j].Priority
	}
	return h[i].NotUntil.Before(h[j].NotUntil)
}

func (h jobHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *jobHeap) Push(x any) { *h = append(*h, x.(*Job)) }

func (h *jobHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// Queue hands out jobs by priority.
type Queue struct {
	mu     sync.Mutex
	jobs   jobHeap
	seen   map[string]bool
	closed bool
}

// Enqueue adds a job once; a second job with the same ID is dropped silently.
func (q *Queue) Enqueue(job *Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if q.seen == nil {
		q.seen = make(map[string]bool)
	}
	if q.seen[job.ID] {
		return nil
	}
	q.seen[job.ID] = true
	heap.Push(&q.jobs, job)
	return nil
}

// Next returns the most urgent job that is due, or nil.
func (q *Queue) Next(now time.Time) *Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 || q.jobs[0].NotUntil.After(now) {
		return nil
	}
	return heap.Pop(&q.jobs).(*Job)
}

// Drain refuses new jobs and returns those that never ran.
func (q *Queue) Drain() []*Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	left := q.jobs
	q.jobs = nil
	return left
}
