// Gets the list of pods over HTTP, and names each kind of failure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/config.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "net/client.hpp"

namespace plim::agent {

struct FetchFailure {
  std::string reason;   // label of the metric: "connect", "timeout", "tls", "http_403", …
  std::string message;  // for the log, with what to do about it
};

// A kubelet gives one list, an API server one per namespace.
struct Fetched {
  std::vector<std::string> bodies;
  std::optional<FetchFailure> failure;
};

// Belongs to one loop.
class PodFetch {
 public:
  PodFetch(Executor loop, KubernetesNodeConfig config);
  Task<Fetched> fetch();

 private:
  Result<void> connect();
  std::vector<std::string> queries() const;

  Executor loop_;
  KubernetesNodeConfig config_;
  std::string base_;
  std::shared_ptr<net::Client> client_;
};

FetchFailure failure_of(const Error& error);           // of the transport
FetchFailure failure_of(int status, bool of_kubelet);  // of an answer

}  // namespace plim::agent
