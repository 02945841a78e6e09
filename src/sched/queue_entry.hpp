// A pod in the scheduling queue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "kube/types.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Pods that need answers over the network are tried in a separate lane, so that other pods do not
// wait for them.
enum class Lane : std::uint8_t { quick, asking };

enum class QueuePlace : std::uint8_t {
  active,
  backoff,
  error_backoff,
  unschedulable,
  in_flight,
  binding
};

struct QueueEntry {
  std::shared_ptr<const kube::Pod> pod;
  QueuePlace place = QueuePlace::unschedulable;
  std::optional<PluginId> gated_by;
  bool removed = false;  // while in flight
  bool by_extender = false;
  bool woken = false;      // by an event, so that it may be tried before its back-off is over
  bool timed_out = false;  // no event woke it: it waited too long
  int attempts = 0, unschedulable_count = 0, consecutive_errors = 0;
  std::uint32_t interest = 0;     // the kinds of events its plugins ask for
  std::uint64_t order = 0;        // orders entries that are otherwise equal
  Lane lane = Lane::quick;        // while active or backing off
  std::uint64_t seen_events = 0;  // number of the next event when its try began
  std::vector<PluginId> rejected_by;
  SteadyTime since{};   // when it last got into the queue
  SteadyTime expiry{};  // of its back-off
  std::optional<SteadyTime> first_ready;
};

}  // namespace plim::sched
