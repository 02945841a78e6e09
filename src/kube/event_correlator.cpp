#include "kube/event_correlator.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace plim::kube {
namespace {

std::string object_of(const ObjectReference& about) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", about.kind, about.ns, about.name, about.uid,
                     about.api_version, about.field_path);
}

// Does not cut inside a UTF-8 sequence.
std::string_view cut_message(std::string_view text) {
  if (text.size() <= EventCorrelator::kMaxMessage) return text;
  std::size_t end = EventCorrelator::kMaxMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::optional<EventCorrelator::Decision> EventCorrelator::observe(const EventNote& note,
                                                                  WallTime now) {
  Decision out;
  out.message = cut_message(note.message);
  std::string object = object_of(note.about);
  std::string kind = fmt::format("{}\n{}\n{}", object, note.reason, static_cast<int>(note.type));

  Similar& similar = similar_[kind];
  if (now - similar.last > kSimilarWithin) similar.messages.clear();
  similar.last = now;
  similar.messages.insert(out.message);
  std::string key = fmt::format("{}\n{}", kind, out.message);
  if (similar.messages.size() >= kSimilar) {
    similar.messages.erase(similar.messages.begin());  // keep the size at the limit
    out.message = cut_message("(combined from similar events): " + out.message);
    key = kind;
  }

  Seen& seen = seen_[key];
  if (seen.count == 0) {
    seen.first = now;
    seen.name = fmt::format("{}.{:x}", note.about.name, now.time_since_epoch().count());
  }
  ++seen.count;
  out.name = seen.name;
  out.count = seen.count;
  out.first = seen.first;
  out.last = now;

  Budget& budget = budgets_[object];
  if (budget.refilled == WallTime{}) budget.refilled = now;
  double earned = std::chrono::duration<double>(now - budget.refilled) / kRefill;
  budget.tokens = std::min(kBurst, budget.tokens + std::max(earned, 0.0));
  budget.refilled = now;
  if (budget.tokens < 1) return std::nullopt;
  budget.tokens -= 1;
  return out;
}

}  // namespace plim::kube
