// What the store holds: keys with their newest bytes, and the changes that led there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace plim::local::store {

using Revision = std::uint64_t;  // one counter for the whole store; 0: nothing yet
using Bytes = std::shared_ptr<const std::string>;  // shared by map, history, snapshots and replies

// A key as it was from revision `modified` until the next change. Never changes itself, so any
// thread may read it.
struct Entry {
  std::string key;
  Bytes value;
  Revision created = 0;
  Revision modified = 0;
  std::uint64_t version = 0;  // how often it was written since it was created

  // What it takes in memory, with a fair share of the map's nodes.
  std::uint64_t footprint() const { return kOverhead + key.size() + value->size(); }

  static constexpr std::uint64_t kOverhead = 256;
};

using EntryPtr = std::shared_ptr<const Entry>;

// One key changed by one transaction.
struct Change {
  Revision revision = 0;
  EntryPtr before;  // none: created
  EntryPtr now;     // none: deleted

  const std::string& key() const { return now ? now->key : before->key; }
};

using ChangePtr = std::shared_ptr<const Change>;

}  // namespace plim::local::store
