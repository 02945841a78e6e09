// Texts that repeat in thousands of objects (namespaces, node names, labels, images), stored once.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace plim::kube {

// An immutable text of pointer size, "" by default. Copies share the bytes and may be read on any
// thread; they outlive the pool that made them.
class Interned {
 public:
  Interned() = default;

  Interned(const Interned& other) noexcept : text_(other.text_) {
    if (text_) text_->users.fetch_add(1, std::memory_order_relaxed);
  }

  Interned(Interned&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}

  Interned& operator=(Interned other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }

  ~Interned() {
    if (text_ && text_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) release(text_);
  }

  std::string_view view() const { return text_ ? text_->view() : std::string_view(); }

  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)

  bool empty() const { return !text_; }

  friend bool operator==(const Interned& a, const Interned& b) {
    return a.text_ == b.text_ || a.view() == b.view();
  }

  friend bool operator==(const Interned& a, std::string_view b) { return a.view() == b; }

 private:
  friend class InternPool;

  struct Text {  // the bytes follow it in the same allocation
    std::atomic<std::uint32_t> users;
    std::uint32_t size;

    std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size}; }
  };

  explicit Interned(Text* text) : text_(text) {}  // takes over a share

  static void release(Text* text);

  Text* text_ = nullptr;
};

// Belongs to one thread. Caches use it for months while labels and images come and go: when the
// pool has doubled, it drops texts that only it holds. So its size stays proportional to what is in
// use.
class InternPool {
 public:
  InternPool();
  ~InternPool();
  InternPool(const InternPool&) = delete;
  InternPool& operator=(const InternPool&) = delete;

  Interned operator()(std::string_view text);

  std::size_t size() const { return used_; }

 private:
  // The pool takes many shares of a text at once and hands them out one by one: an atomic
  // instruction for every look-up would cost more than the look-up.
  static constexpr std::uint32_t kShares = 4096;

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t shares = 0;  // not handed out yet, at least one
    Interned::Text* text = nullptr;
  };

  void make_room();

  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace plim::kube

template <>
struct fmt::formatter<plim::kube::Interned> : fmt::formatter<std::string_view> {
  auto format(const plim::kube::Interned& text, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(text.view(), context);
  }
};
