#include "sched/explain_ring.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::sched {
namespace {

std::size_t texts_size(const std::vector<std::string>& texts) {
  std::size_t out = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) out += text.size();
  return out;
}

// What a record holds, near enough to keep a bound.
std::size_t held_bytes(const ExplainRecord& record) {
  std::size_t out = sizeof(ExplainRecord) + record.message.size() + texts_size(record.details) +
                    texts_size(record.notes) + record.plugins.size() * sizeof(WeightedPlugin);
  for (const ScoredNode& row : record.decision.rows)
    out += sizeof(ScoredNode) + row.node.size() + row.scores.size() * sizeof(PluginScore);
  for (const ExplainRecord::Rejected& one : record.rejected)
    out += sizeof(one) + one.reason.size() + texts_size(one.samples) + texts_size(one.details);
  return out;
}

net::Response refusal(int status, std::string message) {
  net::Response out{.status = status};
  out.headers.set("Content-Type", "application/json");
  out.body = to_json(json::object{{"message", std::move(message)}}) + "\n";
  return out;
}

}  // namespace

void ExplainRing::add(ExplainRecord record) {
  const std::size_t bytes = held_bytes(record);
  bytes_ += bytes;
  kept_.push_back({std::move(record), bytes});
  while (kept_.size() > 1 && (kept_.size() > limits_.decisions || bytes_ > limits_.bytes)) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

const ExplainRecord* ExplainRing::find(const Wanted& wanted) const {
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    const ExplainRecord& record = kept->record;
    if (record.name == wanted.pod && record.ns == wanted.ns &&
        (wanted.uid.empty() || record.uid == wanted.uid) &&
        (wanted.attempt == 0 || record.attempt == wanted.attempt))
      return &record;
  }
  return nullptr;
}

net::Response answer_explain(const ExplainRing& ring, const net::Request& request) {
  if (request.method != "GET") return refusal(405, "only GET is known here");
  ExplainRing::Wanted wanted{.ns = "default", .pod = ""};
  for (auto& [name, value] : net::parse_query(request.query)) {
    if (name == "namespace") wanted.ns = value;
    if (name == "pod") wanted.pod = value;
    if (name == "uid") wanted.uid = value;
    if (name == "attempt") {
      auto number = parse_int<std::int64_t>(value);
      if (!number || *number < 1) return refusal(400, "attempt must be a number from 1 on");
      wanted.attempt = *number;
    }
  }
  if (wanted.pod.empty()) return refusal(400, "pod must be given");
  const ExplainRecord* record = ring.find(wanted);
  if (record == nullptr)
    return refusal(404, fmt::format("no decision about {}/{} is kept", wanted.ns, wanted.pod));
  net::Response out{.status = 200};
  out.headers.set("Content-Type", "application/json");
  out.body = to_json(explain_to_json(*record)) + "\n";
  return out;
}

}  // namespace plim::sched
