// A bounded queue between coroutines of one loop.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/event.hpp"
#include "base/task.hpp"

namespace plim {

// Belongs to one loop and outlives the tasks that use it. After close() nothing can be added; what
// is inside can still be taken.
template <class T>
class Queue {
 public:
  Queue(const Executor& loop, std::size_t capacity) : capacity_(capacity), changed_(loop) {}

  // False if full or closed; `value` is lost.
  bool try_push(T value) {
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(value));
    changed_.notify();
    return true;
  }

  // Waits for space. False if closed.
  Task<bool> push(T value) {
    while (!closed_ && items_.size() >= capacity_) co_await changed_.wait();
    co_return try_push(std::move(value));
  }

  // Waits for an item. Nothing if closed and empty.
  Task<std::optional<T>> pop() {
    while (!closed_ && items_.empty()) co_await changed_.wait();
    std::optional<T> out;
    if (!items_.empty()) {
      out = std::move(items_.front());
      items_.pop_front();
      changed_.notify();
    }
    co_return out;
  }

  void close() {
    closed_ = true;
    changed_.notify();
  }

  bool closed() const { return closed_; }

  std::size_t size() const { return items_.size(); }

 private:
  std::size_t capacity_;
  std::deque<T> items_;
  bool closed_ = false;
  Event changed_;
};

}  // namespace plim
