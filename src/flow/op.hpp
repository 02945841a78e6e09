// What an operation is: a reader (slicer and fetcher), a processor or a sender, and its row in the
// one table of operations. Adding one: the class, its test, one row, one sentence in docs/flow.md.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "flow/batch.hpp"
#include "flow/options.hpp"

namespace plim::flow {

// Slice and attempt that are being run, for whoever needs to know. Lives as long as the slice.
struct SliceContext {
  explicit SliceContext(const Clock& time) : clock(time) {}

  const Clock& clock;
  std::string ex_id;
  std::string slice_id;
  std::uint32_t slicer_id = 0;
  std::uint64_t slicer_order = 0;
  std::uint32_t attempt = 1;  // which dispatch this is; a later one may run elsewhere already
  std::string worker_id;
  WallTime created = {};
  // True once the controller has given the slice to somebody else, or is gone: nothing may be
  // committed any more. Callable from any thread.
  std::function<bool()> is_cancelled = [] { return false; };
  // What the slice wants printed; the controller prints it when it accepts the slice.
  std::string printed = {};

  // Blocks the thread. Code::cancelled as soon as is_cancelled().
  Result<void> wait(std::chrono::milliseconds time) const;
};

// First half of a reader; lives in the controller and cuts the work into requests. Never blocks for
// long. What cursor() says is stored with the slices, so that restore() goes on behind them.
class Slicer {
 public:
  virtual ~Slicer() = default;
  virtual Result<std::optional<json::object>> next() = 0;  // nothing: no more, or not now
  virtual json::value cursor() const = 0;
  virtual Result<void> restore(const json::value& cursor) = 0;

  // Of the whole range, if it is known before all slices are made.
  virtual std::optional<std::uint64_t> total_slices() const { return std::nullopt; }
};

// Second half of a reader; lives in a worker and turns a request into records.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual Result<void> fetch(const json::value& request, SliceContext& context, Batch& out) = 0;
};

// An error with Code::bad_request is final: the slice fails without another try.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual Result<void> process(SliceContext& context, Batch& batch) = 0;

  // After the whole chain went well: makes lasting what process() prepared.
  virtual Result<void> commit(SliceContext&) { return {}; }

  // Instead of commit(): forgets it.
  virtual void abandon() {}
};

struct ReaderSetup {
  const json::object& options;
  const json::object& last_operation;  // the sender may say how large slices should be
  bool persistent = false;
  unsigned index = 0;  // of `count` slicers that share the range
  unsigned count = 1;
};

// How often a record may reach the outside when slices are run again.
struct Guarantee {
  bool exactly_once = true;
  std::string reason = {};  // "file_exporter renames one file per slice"
};

struct OpEntry {
  enum class Kind { reader, processor, sender };

  std::string_view name;
  std::string_view aliases = {};  // "a|b"
  Kind kind = Kind::processor;
  std::string_view summary = {};
  std::span<const Option> options = {};
  Result<std::unique_ptr<Slicer>> (*slicer)(const ReaderSetup&) = nullptr;
  Result<std::unique_ptr<Fetcher>> (*fetcher)(const json::object&) = nullptr;
  Result<std::unique_ptr<Operation>> (*operation)(const json::object&) = nullptr;
  // What the table of options cannot say; messages are "option: what is wrong".
  void (*check)(const json::object& options, std::string_view path, Problems&) = nullptr;
  Guarantee (*guarantee)(const json::object&) = nullptr;  // of senders; null: nothing leaves
};

std::span<const OpEntry> op_table();
const OpEntry* find_op(std::string_view name);  // by name or alias
std::vector<std::string> nearest_ops(std::string_view name);
std::string_view kind_name(OpEntry::Kind kind);

}  // namespace plim::flow
