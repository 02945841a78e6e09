// Received bytes that are not parsed yet; contiguous, as the parser needs them.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace plim::net {

class InputBuffer {
 public:
  std::string_view data() const { return {bytes_.get() + begin_, end_ - begin_}; }

  bool empty() const { return begin_ == end_; }

  std::size_t size() const { return end_ - begin_; }

  // Returns space for at least `room` bytes; commit() sets how many of them were filled.
  std::span<char> prepare(std::size_t room) {
    if (capacity_ - end_ < room) make_room(room);
    return {bytes_.get() + end_, capacity_ - end_};
  }

  void commit(std::size_t count) { end_ += count; }

  void consume(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Frees the memory if it is empty: thousands of idle connections keep no buffer.
  void release_if_empty() {
    if (!empty()) return;
    bytes_.reset();
    capacity_ = begin_ = end_ = 0;
  }

 private:
  void make_room(std::size_t room) {
    std::size_t held = size();
    if (held + room > capacity_) {
      std::size_t larger = std::max(held + room, 2 * held);
      std::unique_ptr<char[]> moved(new char[larger]);
      if (held > 0) std::memcpy(moved.get(), bytes_.get() + begin_, held);
      bytes_ = std::move(moved);
      capacity_ = larger;
    } else {
      std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    }
    begin_ = 0;
    end_ = held;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace plim::net
