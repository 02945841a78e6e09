#include "local/apiserver/patch/strategic_lists.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

std::size_t position(const Identities& places, const std::optional<std::string>& identity) {
  if (!identity) return kNowhere;
  auto found = places.find(*identity);
  return found == places.end() ? kNowhere : found->second;
}

struct Placed {
  std::size_t rank = kNowhere;    // in the wanted order
  std::size_t server = kNowhere;  // in the old list
  std::size_t merged = 0;         // in the merged list: breaks ties
  json::value* element = nullptr;
};

}  // namespace

std::optional<std::string> identity_of(const json::value& element, std::string_view key) {
  const json::value* found = key.empty() ? &element : find(element, {key});
  if (!found) return std::nullopt;
  return to_json(*found);
}

Identities identities_of(const json::array& list, std::string_view key) {
  Identities out;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (auto identity = identity_of(list[i], key)) out.emplace(std::move(*identity), i);
  return out;
}

void erase_elements(json::array& list, std::string_view key,
                    const std::unordered_set<std::string>& identities) {
  if (identities.empty()) return;
  json::array kept;
  for (json::value& element : list) {
    const auto identity = identity_of(element, key);
    if (!identity || !identities.contains(*identity)) kept.push_back(std::move(element));
  }
  list = std::move(kept);
}

json::array merge_primitives(const json::array& original, const json::array& patch) {
  json::array out;
  std::unordered_set<std::string> seen;
  for (const json::array* list : {&original, &patch}) {
    for (const json::value& value : *list)
      if (seen.insert(to_json(value)).second) out.push_back(value);
  }
  return order_elements(std::move(out), patch, original, "");
}

json::array order_elements(json::array merged, const json::array& wanted, const json::array& server,
                           std::string_view key) {
  const Identities ranks = identities_of(wanted, key);
  const Identities places = identities_of(server, key);
  std::vector<Placed> named;
  std::vector<Placed> others;
  for (json::value& element : merged) {
    const auto identity = identity_of(element, key);
    const Placed placed{.rank = position(ranks, identity),
                        .server = position(places, identity),
                        .merged = named.size() + others.size(),
                        .element = &element};
    (placed.rank != kNowhere ? named : others).push_back(placed);
  }
  std::sort(named.begin(), named.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.rank, a.merged) < std::tie(b.rank, b.merged);
  });
  std::sort(others.begin(), others.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.server, a.merged) < std::tie(b.server, b.merged);
  });
  json::array out;
  out.reserve(merged.size());
  auto next_named = named.begin();
  auto next_other = others.begin();
  while (next_named != named.end() || next_other != others.end()) {
    bool other_first = next_named == named.end();
    if (!other_first && next_other != others.end())
      other_first = next_named->server != kNowhere && next_other->server < next_named->server;
    const Placed& next = other_first ? *next_other++ : *next_named++;
    out.push_back(std::move(*next.element));
  }
  return out;
}

}  // namespace plim::local::apiserver
