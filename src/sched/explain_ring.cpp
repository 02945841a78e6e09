#include "sched/explain_ring.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "sched/explain_pack.hpp"

namespace plim::sched {
namespace {

// Includes the overhead of the allocator and the queue.
std::size_t held_bytes(const std::string& packed) {
  return packed.capacity() + sizeof(std::string) + 16;
}

net::Response refusal(int status, std::string message) {
  net::Response out{.status = status};
  out.headers.set("Content-Type", "application/json");
  out.body = to_json(json::object{{"message", std::move(message)}}) + "\n";
  return out;
}

}  // namespace

void ExplainRing::add(const ExplainRecord& record) {
  kept_.push_back(pack(record));
  bytes_ += held_bytes(kept_.back());
  while (kept_.size() > 1 && (kept_.size() > limits_.decisions || bytes_ > limits_.bytes)) {
    bytes_ -= held_bytes(kept_.front());
    kept_.pop_front();
  }
}

std::optional<ExplainRecord> ExplainRing::find(const Wanted& wanted) const {
  for (auto packed = kept_.rbegin(); packed != kept_.rend(); ++packed) {
    const PackedKey key = packed_key(*packed);
    if (key.name == wanted.pod && key.ns == wanted.ns &&
        (wanted.uid.empty() || key.uid == wanted.uid) &&
        (wanted.attempt == 0 || key.attempt == wanted.attempt))
      return unpack(*packed);
  }
  return std::nullopt;
}

net::Response answer_explain(const ExplainRing& ring, const net::Request& request,
                             const Recompute& recompute) {
  bool all_nodes = false;
  std::string node;
  if (request.method != "GET") return refusal(405, "only GET is known here");
  ExplainRing::Wanted wanted{.ns = "default", .pod = ""};
  for (auto& [name, value] : net::parse_query(request.query)) {
    if (name == "namespace") wanted.ns = value;
    if (name == "pod") wanted.pod = value;
    if (name == "uid") wanted.uid = value;
    if (name == "nodes") all_nodes = value == "all";
    if (name == "node") node = value;
    if (name == "attempt") {
      auto number = parse_int<std::int64_t>(value);
      if (!number || *number < 1) return refusal(400, "attempt must be a number from 1 on");
      wanted.attempt = *number;
    }
  }
  if (wanted.pod.empty()) return refusal(400, "pod must be given");
  std::optional<ExplainRecord> record = ring.find(wanted);
  const bool lacks_nodes = (all_nodes && !(record && has_all_nodes(*record))) ||
                           (!node.empty() && !(record && has_node(*record, node)));
  if (lacks_nodes && recompute)
    if (auto now = recompute(wanted)) {
      if (record) now->attempt = record->attempt;
      record = std::move(now);
    }
  if (!record)
    return refusal(404, fmt::format("no decision about {}/{} is kept", wanted.ns, wanted.pod));
  net::Response out{.status = 200};
  out.headers.set("Content-Type", "application/json");
  out.body = to_json(explain_to_json(*record)) + "\n";
  return out;
}

}  // namespace plim::sched
