// Events as people can bear them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "kube/event_recorder.hpp"

namespace plim::pools {

// At most one of each object and reason in a minute; what comes meanwhile waits, and is told
// together. Pure logic; the time is given.
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
