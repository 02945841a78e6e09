// The lines of watches, each encoded once and shared by all watches.
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

// The object that an event shows. A deleted object has the revision of its deletion.
std::string object_of(const Kind& kind, const store::Change& change, EventType type);

// `{"type":"ADDED","object":{…}}` and a newline.
std::string added_line(const Kind& kind, std::string_view bytes);

// Belongs to one loop. Most watches are at the newest changes, so a small cache of encoded lines
// serves nearly all of them.
class WatchLines {
 public:
  net::Piece line(const KindPtr& kind, const store::ChangePtr& change, EventType type);

 private:
  using Key = std::pair<const Kind*, const store::Change*>;

  struct Encoded {
    KindPtr kind;  // keep the pointers of the key alive
    store::ChangePtr change;
    std::array<net::Piece, 3> lines;
  };

  std::map<Key, Encoded> encoded_;
  std::deque<Key> order_;
};

}  // namespace plim::local::apiserver
