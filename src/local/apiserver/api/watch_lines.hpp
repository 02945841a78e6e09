// The lines of watches, each encoded once and shared by all who watch.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/api/kinds.hpp"
#include "local/store/entry.hpp"
#include "net/server.hpp"

namespace plim::local::apiserver {

enum class EventType : std::uint8_t { added, modified, deleted };

std::string_view name_of(EventType type);

// `{"type":"ADDED","object":{…}}` and the line's end.
std::string added_line(const Kind& kind, std::string_view bytes);

// Belongs to one loop. Watchers are mostly at the newest changes, so that a short memory of encoded
// lines serves nearly all of them.
class WatchLines {
 public:
  net::Piece line(const KindPtr& kind, const store::ChangePtr& change, EventType type);

 private:
  using Key = std::pair<const Kind*, const store::Change*>;

  struct Encoded {
    KindPtr kind;  // these two keep the key unique
    store::ChangePtr change;
    std::array<net::Piece, 3> lines;
  };

  std::map<Key, Encoded> encoded_;
  std::deque<Key> order_;
};

}  // namespace plim::local::apiserver
