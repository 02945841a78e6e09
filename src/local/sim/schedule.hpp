// Runs the jobs of all simulated objects at their times, with a single timer.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task.hpp"

namespace plim::local::sim {

// Jobs that are due run as tasks, at most `at_once` at a time, in the order of their times. Belongs
// to one loop; co_await stop() before destroying it.
template <class Job>
class Schedule {
 public:
  using Run = std::function<Task<void>(Job)>;

  Schedule(const Executor& loop, Clock& clock, std::size_t at_once, Run run)
      : clock_(clock), at_once_(at_once), run_(std::move(run)), changed_(loop), tasks_(loop) {}

  void start() { tasks_.spawn("simulated time", watch_time()); }

  Task<void> stop() { return tasks_.stop(); }

  void add(SteadyTime when, Job job) {
    const bool sooner = later_.empty() || when < later_.top().when;
    if (when <= clock_.steady()) {
      ready_.push(std::move(job));
      pump();
      return;
    }
    later_.push({when, added_++, std::move(job)});
    if (sooner) changed_.notify();
  }

  std::size_t waiting() const { return later_.size() + ready_.size(); }

  std::size_t running() const { return running_; }

 private:
  struct Later {
    SteadyTime when;
    std::uint64_t number;  // keeps the order of jobs with equal times
    Job job;

    bool operator<(const Later& other) const {
      return std::pair(other.when, other.number) < std::pair(when, number);
    }
  };

  Task<void> watch_time() {
    for (;;) {
      while (!later_.empty() && later_.top().when <= clock_.steady()) {
        ready_.push(later_.top().job);
        later_.pop();
      }
      pump();
      if (later_.empty()) {
        co_await changed_.wait();
      } else {
        co_await changed_.wait_until(clock_, later_.top().when);
      }
    }
  }

  void pump() {
    while (running_ < at_once_ && !ready_.empty()) {
      ++running_;
      Job job = std::move(ready_.front());
      ready_.pop();  // pop first: the task may begin at once
      tasks_.spawn("simulated step", one(std::move(job)));
    }
  }

  class Running {
   public:
    explicit Running(Schedule& schedule) : schedule_(schedule) {}

    ~Running() { --schedule_.running_; }

    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Schedule& schedule_;
  };

  // Continues with other ready jobs: cheaper than one task per job.
  Task<void> one(Job job) {
    const Running counted(*this);
    for (;;) {
      co_await run_(std::move(job));
      if (ready_.empty()) co_return;
      job = std::move(ready_.front());
      ready_.pop();
    }
  }

  Clock& clock_;
  std::size_t at_once_;
  Run run_;
  Event changed_;
  std::priority_queue<Later> later_;
  std::queue<Job> ready_;
  std::uint64_t added_ = 0;
  std::size_t running_ = 0;
  TaskGroup tasks_;
};

}  // namespace plim::local::sim
