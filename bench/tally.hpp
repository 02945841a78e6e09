// Counts what a load has made, by watching it.
#pragma once

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "kube/informer.hpp"

namespace plim::bench {

// How many objects are there, and for how many of them `is_good` holds.
template <class T>
class Tally {
 public:
  using Pointer = typename kube::Informer<T>::Pointer;

  Tally(const Executor& loop, std::shared_ptr<kube::Client> client, kube::Resource resource,
        kube::Codec<T> codec, bool (*is_good)(const T&))
      : is_good_(is_good),
        changed_(loop),
        informer_(loop, std::move(client), std::move(resource), std::move(codec), ours()) {
    informer_.add_handlers(
        {.on_add = [this](const Pointer& now) { count(nullptr, now); },
         .on_update = [this](const Pointer& before, const Pointer& now) { count(before, now); },
         .on_delete = [this](const Pointer& last) { count(last, nullptr); }});
  }

  Task<void> start() {
    informer_.start();
    co_await informer_.wait_synced();
  }

  Task<void> stop() { return informer_.stop(); }

  Task<Result<void>> wait_good(std::size_t wanted, SteadyTime end) {
    while (good_ < wanted)
      if (!co_await changed_.wait_until(system_clock(), end))
        co_return fail(Code::timeout, fmt::format("only {} of {} came so far", good_, wanted));
    co_return Result<void>();
  }

  Task<Result<void>> wait_none(SteadyTime end) {
    while (all_ > 0)
      if (!co_await changed_.wait_until(system_clock(), end))
        co_return fail(Code::timeout, fmt::format("{} are still there", all_));
    co_return Result<void>();
  }

 private:
  static kube::ReflectorOptions ours() {
    kube::ReflectorOptions out;
    out.label_selector = "app=plimsoll-load";
    return out;
  }

  void count(const Pointer& before, const Pointer& now) {
    if (before) --all_, good_ -= is_good_(*before) ? 1 : 0;
    if (now) ++all_, good_ += is_good_(*now) ? 1 : 0;
    changed_.notify();
  }

  bool (*is_good_)(const T&);
  std::size_t all_ = 0, good_ = 0;
  Event changed_;
  kube::Informer<T> informer_;
};

}  // namespace plim::bench
