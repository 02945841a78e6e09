// Threads for work that may block: a slow disk, a C library without an asynchronous interface.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/event.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"

namespace plim {

// A fixed number of threads and a bounded queue. Any loop may use it; the pool must be destroyed
// before the loops whose tasks use it.
class WorkerPool {
 public:
  struct Options {
    std::string name = "worker";  // name of the threads, at most 15 characters
    unsigned threads = 2;
    std::size_t queue_limit = 1024;
  };

  explicit WorkerPool(Options options);
  ~WorkerPool();  // stops
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls `work`, which returns a Result, on a thread of the pool and returns its value on the
  // caller's loop. Code::unavailable if the queue is full or the pool is stopped. If the calling
  // task is cancelled, work that has begun still runs to its end, so it must own what it uses; its
  // value is dropped.
  template <class Work, class Value = std::invoke_result_t<Work&>>
  Task<Value> run(Work work);

  // Completes what has begun, drops the rest (its callers get Code::cancelled) and joins. May be
  // called again; not from a thread of the pool.
  void stop();

 private:
  using Job = std::function<void(bool cancelled)>;
  bool submit(Job job);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <class Work, class Value>
Task<Value> WorkerPool::run(Work work) {
  struct Order {
    Order(const Executor& executor, Work w) : work(std::move(w)), done(executor) {}

    Work work;
    std::optional<Value> value;
    Event done;
  };

  Executor loop = co_await current_loop();
  auto order = std::make_shared<Order>(loop, std::move(work));
  // The event belongs to the loop, so the last reference must be dropped there too: the worker
  // passes its own reference with the message.
  Job job = [order, loop](bool cancelled) mutable {
    if (cancelled) {
      order->value.emplace(fail(Code::cancelled, "worker pool is stopping"));
    } else {
      try {
        order->value.emplace(order->work());
      } catch (const std::exception& e) {
        order->value.emplace(fail(Code::internal, e.what()));
      }
    }
    post_to(loop, [order = std::move(order)] { order->done.notify(); });
  };
  if (!submit(std::move(job)))
    co_return fail(Code::unavailable, "worker pool is stopped or its queue is full");
  co_await order->done.wait();
  co_return std::move(*order->value);
}

}  // namespace plim
