// The interfaces of operations: a reader (slicer and fetcher), a processor or a sender. To add one,
// write the class, its test, one row of the table and one sentence in docs/flow.md.
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

// The slice and the attempt that run, for operations that need them. Lives as long as the slice.
struct SliceContext {
  explicit SliceContext(const Clock& time) : clock(time) {}

  const Clock& clock;
  std::string ex_id;
  std::string slice_id;
  std::uint32_t slicer_id = 0;
  std::uint64_t slicer_order = 0;
  std::uint32_t attempt = 1;  // number of this dispatch; a later one may already run elsewhere
  std::string worker_id;
  WallTime created = {};
  // True if the controller has given the slice to another worker or has ended. Then nothing may be
  // committed. Callable from any thread.
  std::function<bool()> is_cancelled = [] { return false; };
  // Text to print; the controller prints it when it accepts the slice.
  std::string printed = {};

  // Blocks the thread. Fails with Code::cancelled when is_cancelled() becomes true.
  Result<void> wait(std::chrono::milliseconds time) const;
};

// First half of a reader. It runs in the controller and divides the input into requests; it must
// not block for long. The result of cursor() is stored with the slices, so that restore() continues
// after them.
class Slicer {
 public:
  virtual ~Slicer() = default;
  virtual Result<std::optional<json::object>> next() = 0;  // nothing: no more, or none for now
  virtual json::value cursor() const = 0;
  virtual Result<void> restore(const json::value& cursor) = 0;

  // The number of slices, if it is known before all are made.
  virtual std::optional<std::uint64_t> total_slices() const { return std::nullopt; }
};

// Second half of a reader. It runs in a worker and turns a request into records.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual Result<void> fetch(const json::value& request, SliceContext& context, Batch& out) = 0;
};

// Code::bad_request is final: the slice fails without a retry.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual Result<void> process(SliceContext& context, Batch& batch) = 0;

  // Called if all operations of the slice succeeded: publishes the results of process().
  virtual Result<void> commit(SliceContext&) { return {}; }

  // Called instead of commit(): discards the results.
  virtual void abandon() {}
};

struct ReaderSetup {
  const json::object& options;
  const json::object& last_operation;  // a sender may set the size of slices
  bool persistent = false;
  unsigned index = 0;  // of this slicer; `count` slicers share the input
  unsigned count = 1;
};

// How often a record may be output if slices run again.
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
  // Checks what the table of options cannot express; messages are "option: what is wrong".
  void (*check)(const json::object& options, std::string_view path, Problems&) = nullptr;
  Guarantee (*guarantee)(const json::object&) = nullptr;  // of senders; null: no output
};

std::span<const OpEntry> op_table();
const OpEntry* find_op(std::string_view name);  // by name or alias
std::vector<std::string> nearest_ops(std::string_view name);
std::string_view kind_name(OpEntry::Kind kind);

}  // namespace plim::flow
