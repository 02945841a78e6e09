// Interface of classes that find the tasks of a node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/config.hpp"
#include "agent/task.hpp"
#include "base/clock.hpp"
#include "base/task.hpp"
#include "node/cgroup_meter.hpp"

namespace plim::agent {

// Belongs to one loop; co_await stop() before destroying it.
class TaskSource {
 public:
  virtual ~TaskSource() = default;

  virtual void start() {}

  virtual Task<void> stop() { co_return; }

  // Called before each iteration. `vanished`: a cgroup of the list did not exist when it was read.
  virtual Task<void> prepare(bool vanished) = 0;
  virtual TaskList tasks() const = 0;

  virtual bool ready() const { return true; }  // the first list has arrived or failed

  virtual std::string failure() const { return {}; }  // of the last update: "http_403"; "": none

  virtual double age_seconds() const { return 0; }  // of the list in use

  virtual const std::map<std::string, std::uint64_t>& errors() const;  // by reason
};

std::unique_ptr<TaskSource> make_static_source(const StaticNodeConfig& config,
                                               const node::CgroupMounts& mounts, Clock& clock);

}  // namespace plim::agent
