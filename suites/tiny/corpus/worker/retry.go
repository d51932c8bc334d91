package worker

import (
	"math/rand"
	"time"
)

// Policy says how long to wait before a failed job runs again.
type Policy struct {
	Base     time.Duration
	Max      time.Duration
	Attempts int
}

// DefaultPolicy gives up after five attempts.
var DefaultPolicy = Policy{Base: time.Second, Max: time.Minute, Attempts: 5}

// Backoff doubles the pause with every attempt, with jitter so that jobs do not come back together.
func (p Policy) Backoff(attempt int) time.Duration {
	pause := p.Base << attempt
	if pause > p.Max || pause <= 0 {
		pause = p.Max
	}
	return pause/2 + time.Duration(rand.Int63n(int64(pause/2)+1))
}

// GiveUp tells whether a job has failed often enough.
func (p Policy) GiveUp(job *Job) bool {
	return job.Attempts >= p.Attempts
}

// RunOnce runs the next due job and puts it back when it fails.
func RunOnce(q *Queue, p Policy, now time.Time) error {
	job := q.Next(now)
	if job == nil {
		return nil
	}
	err := job.Run()
	if err == nil {
		return nil
	}
	job.Attempts++
	if p.GiveUp(job) {
		return err
	}
	job.NotUntil = now.Add(p.Backoff(job.Attempts))
	q.mu.Lock()
	delete(q.seen, job.ID)
	q.mu.Unlock()
	return q.Enqueue(job)
}
