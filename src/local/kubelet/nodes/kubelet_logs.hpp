// /containerLogs/<namespace>/<pod>/<container>: whole logs, or logs that are followed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "local/kubelet/nodes/kubelet_pods.hpp"
#include "net/server.hpp"

namespace plim::local::kubelet {

// Parses a query such as "tailLines=3&timestamps=true&sinceSeconds=60". The error is
// Code::bad_request and names the parameter.
Result<LogOptions> parse_log_options(std::string_view query, WallTime now);

// Belongs to the node's loop; co_await stop() before destroying it.
class KubeletLogs {
 public:
  KubeletLogs(const Executor& loop, Clock& clock, KubeletPods& pods);
  // An error becomes the HTTP status. After the first bytes of the body an error only ends it.
  Task<Result<net::Reply>> answer(net::Request request);

  Task<void> stop() { return tasks_.stop(); }

 private:
  struct Stream;
  Task<void> read(std::shared_ptr<Stream> stream);

  Executor loop_;
  Clock& clock_;
  KubeletPods& pods_;
  TaskGroup tasks_;
};

}  // namespace plim::local::kubelet
