// An HTTP service that takes part in decisions, with kube-scheduler's protocol: it filters and
// scores nodes, chooses victims of preemption, or binds the pod itself.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/types.hpp"
#include "net/client.hpp"
#include "sched/config.hpp"
#include "sched/extender_messages.hpp"

namespace plim::sched {

// Belongs to one loop. Connections are kept open between calls. Every call ends within the
// configured time.
class Extender {
 public:
  using Scores = std::vector<std::pair<std::string, std::int64_t>>;

  // Reads the files of its TLS settings.
  static Result<std::shared_ptr<Extender>> create(const Executor& loop, ExtenderConfig config);

  const ExtenderConfig& config() const { return config_; }

  const std::string& name() const { return config_.url_prefix; }

  // True for all pods, or for those that request a resource it manages.
  bool is_interested(const kube::Pod& pod) const;

  // Whether it must be asked before a decision about this pod.
  bool has_a_say(const kube::Pod& pod) const { return has_a_say() && is_interested(pod); }

  bool has_a_say() const;          // for any pod
  bool wants_whole_nodes() const;  // instead of names

  // `nodes` is what extender_args_by_…() takes, `names` their names.
  Task<Result<ExtenderFilterAnswer>> filter(std::string body, std::vector<std::string> names) const;
  Task<Result<Scores>> prioritize(std::string body) const;
  Task<Result<void>> bind(std::string body) const;
  Task<Result<std::vector<ExtenderVictims>>> preempt(std::string body) const;

 private:
  enum class Again : std::uint8_t { no, once };

  Extender(ExtenderConfig config, std::shared_ptr<net::Client> client)
      : config_(std::move(config)), client_(std::move(client)) {}

  // Returns the body of the answer. `again` allows a second request if the peer has closed the
  // connection.
  Task<Result<std::string>> call(std::string verb, std::string body, Again again) const;
  Error about(const std::string& verb, const Error& error) const;  // adds the extender's name

  ExtenderConfig config_;
  std::shared_ptr<net::Client> client_;
};

// In the order in which they are asked: ignorable extenders come last.
using ExtenderList = std::vector<std::shared_ptr<const Extender>>;

Result<std::shared_ptr<const ExtenderList>> make_extenders(const Executor& loop,
                                                           std::span<const ExtenderConfig> configs);

}  // namespace plim::sched
