// What the store holds: keys with their newest values, and recent changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace plim::local::store {

using Revision = std::uint64_t;                    // one counter for the whole store; 0: empty
using Bytes = std::shared_ptr<const std::string>;  // shared by map, history, snapshots and replies

// A key from revision `modified` until its next change. Immutable, so any thread may read it.
struct Entry {
  std::string key;
  Bytes value;
  Revision created = 0;
  Revision modified = 0;
  std::uint64_t version = 0;  // number of writes since it was created

  // Memory use, with a fair share of the map's nodes.
  std::uint64_t footprint() const { return kOverhead + key.size() + value->size(); }

  static constexpr std::uint64_t kOverhead = 256;
};

using EntryPtr = std::shared_ptr<const Entry>;

// A key that a transaction changed.
struct Change {
  Revision revision = 0;
  EntryPtr before;  // null: created
  EntryPtr now;     // null: deleted

  const std::string& key() const { return now ? now->key : before->key; }
};

using ChangePtr = std::shared_ptr<const Change>;

}  // namespace plim::local::store
