// A client whose watches deliver frequent events in groups.
#pragma once

#include <chrono>
#include <memory>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::servo {

// For readers that accept a small delay: to wake up for each event costs several times as much as
// the event itself. An event after a pause of at least `pace` is delivered at once. An event that
// comes sooner is held for `pace`, and all events that arrive meanwhile are delivered with it. When
// many events arrive in one read, they are not held: such a reader does not wake up for each.
//
// Belongs to `loop`; so do its watches, which may outlive it. All other requests go to `client`
// unchanged.
std::shared_ptr<kube::Client> with_paced_watches(Executor loop,
                                                 std::shared_ptr<kube::Client> client,
                                                 std::chrono::milliseconds pace, Clock& clock);

}  // namespace plim::servo
