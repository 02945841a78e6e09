// A client whose watches hand over what streams in in groups.
#pragma once

#include <chrono>
#include <memory>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::servo {

// For whoever may hear of an event a little later: to wake for each one costs several times what
// the event itself does. An event that comes alone, that is after a pause of at least `pace`, is
// handed over at once. One that comes sooner after the last is held for `pace`, and whatever has
// arrived by then follows without waiting. A flood is not held up: who reads that much in one go
// has nothing to save.
//
// Belongs to the loop it is given; so do its watches, which may outlive it. Everything but watches
// is the client's own.
std::shared_ptr<kube::Client> with_paced_watches(Executor loop,
                                                 std::shared_ptr<kube::Client> client,
                                                 std::chrono::milliseconds pace, Clock& clock);

}  // namespace plim::servo
