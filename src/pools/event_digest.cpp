#include "pools/event_digest.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plim::pools {
namespace {

constexpr Nanos kApart = std::chrono::minutes(1);

}  // namespace

void EventDigest::add(kube::EventNote note) {
  const auto& about = note.about;
  Waiting& waiting = waiting_[fmt::format("{}|{}|{}|{}|{}|{}", about.kind, about.ns, about.name,
                                          about.uid, about.field_path, note.reason)];
  if (std::ranges::find(waiting.texts, note.message) == waiting.texts.end())
    waiting.texts.push_back(note.message);
  waiting.note = std::move(note);
}

std::vector<kube::EventNote> EventDigest::due(SteadyTime now) {
  std::vector<kube::EventNote> out;
  for (auto& [key, waiting] : waiting_) {
    if (waiting.texts.empty() || now < waiting.next) continue;
    waiting.note.message = fmt::format("{}", fmt::join(waiting.texts, "; "));
    out.push_back(waiting.note);
    waiting.texts.clear();
    waiting.next = now + kApart;
  }
  std::erase_if(waiting_, [&](const auto& item) {
    return item.second.texts.empty() && now >= item.second.next;
  });
  return out;
}

}  // namespace plim::pools
