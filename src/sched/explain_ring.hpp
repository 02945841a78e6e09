// Keeps the last decisions for explain. Belongs to one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "net/http.hpp"
#include "sched/explain_record.hpp"

namespace plim::sched {

class ExplainRing {
 public:
  struct Limits {
    std::size_t decisions = 10'000;
    std::size_t bytes = std::size_t{64} << 20;
  };

  ExplainRing() = default;

  explicit ExplainRing(Limits limits) : limits_(limits) {}

  // Removes the oldest ones if there is no room.
  void add(const ExplainRecord& record);

  struct Wanted {
    std::string ns, pod;
    std::string uid = {};      // "" for any
    std::int64_t attempt = 0;  // 0 for the last
  };

  // The newest record that matches; nothing if there is none any more.
  std::optional<ExplainRecord> find(const Wanted& wanted) const;

  std::size_t size() const { return kept_.size(); }

  std::size_t bytes() const { return bytes_; }

 private:
  Limits limits_;
  std::deque<std::string> kept_;  // packed
  std::size_t bytes_ = 0;
};

// What the decision would be now; nothing if the pod is unknown.
using Recompute = std::function<std::optional<ExplainRecord>(const ExplainRing::Wanted&)>;

// GET /plimsoll/v1/explain?namespace=&pod=[&uid=&attempt=][&nodes=all][&node=]
// Recomputes if all nodes are wanted, or that node, and the ring does not have them.
net::Response answer_explain(const ExplainRing& ring, const net::Request& request,
                             const Recompute& recompute = {});

}  // namespace plim::sched
