// Transactions: their contents, their effect on a tree, and their encoding in the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "local/store/entry.hpp"
#include "local/store/tree.hpp"
#include "local/store/view.hpp"

namespace plim::local::store {

// True if the key was last modified at exactly this revision; for 0, if the key does not exist.
struct Compare {
  std::string key;
  Revision modified = 0;
};

struct Op {
  enum class Kind : std::uint8_t { put = 1, del = 2 };
  Kind kind = Kind::put;
  std::string key;
  Bytes value = {};  // for a put

  static Op put(std::string key, Bytes value) {
    return {.kind = Kind::put, .key = std::move(key), .value = std::move(value)};
  }

  static Op del(std::string key) { return {.kind = Kind::del, .key = std::move(key)}; }
};

// All or nothing: if every comparison is true, all operations get one new revision. A key may
// appear only once.
struct Txn {
  std::vector<Compare> compares = {};
  std::vector<Op> ops = {};
};

struct Applied {
  Tree tree;
  std::vector<ChangePtr> changes;  // in the order of the operations
  std::uint64_t live_bytes = 0;    // sum of the footprints in `tree`
};

// Applies `txn` to `tree` at `revision`. already_exists: a key that should not exist does;
// conflict: a key has another revision; not_found: a key to compare with or to delete does not
// exist.
Result<Applied> apply(const Txn& txn, const Tree& tree, std::uint64_t live_bytes,
                      Revision revision);

std::string encode_txn(const std::vector<Op>& ops, Revision revision);

struct LoggedTxn {
  Revision revision = 0;
  Txn txn;
};

Result<LoggedTxn> decode_txn(std::string_view record);

// Applies a record of the log to `view`, at the next revision. Nothing if the view already contains
// it.
Result<std::optional<Applied>> replay(std::string_view record, const View& view,
                                      std::uint64_t live_bytes);

}  // namespace plim::local::store
