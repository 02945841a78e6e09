// Merges frequent events of an object.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "kube/event_recorder.hpp"

namespace plim::pools {

// Emits at most one event per minute for each object, or part of one, and reason. Later texts wait
// and go into one event together. A container is a part of its pod: its events do not wait for
// those of another container. Pure logic; the caller passes the time.
class EventDigest {
 public:
  void add(kube::EventNote note);
  std::vector<kube::EventNote> due(SteadyTime now);

 private:
  struct Waiting {
    kube::EventNote note;
    std::vector<std::string> texts;  // each once
    SteadyTime next = SteadyTime::min();
  };

  std::map<std::string, Waiting> waiting_;  // by object and reason
};

}  // namespace plim::pools
