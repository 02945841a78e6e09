// Looking at single fields of a raw record without building anything from it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "flow/batch.hpp"

namespace plim::flow {

enum class FieldKind { missing, broken, null, boolean, number, text, object, array };

struct Field {
  FieldKind kind = FieldKind::missing;  // broken: the record is no JSON object
  std::string_view raw = {};            // the value's JSON text inside the record
};

// Where a member stands in its record: from the quote of its key to the end of its value.
struct Member {
  std::string_view key;    // without quotes, escapes as they are
  std::string_view value;  // JSON text
  const char* begin = nullptr;
};

// The key without its escapes; `scratch` holds it if it had some.
std::string_view plain_key(const Member& member, std::string& scratch);
// The member called `name`, however its key is written; null: there is none.
const Member* find_member(const std::vector<Member>& members, std::string_view name);

// "a.b.c", taken apart once.
class FieldPath {
 public:
  explicit FieldPath(std::string_view dotted);
  // One key, whatever is in it.
  static FieldPath of_key(std::string_view key);

  const std::vector<std::string>& steps() const { return steps_; }

  // With its quotes, for a path of one plain step; else empty.
  const std::string& quoted() const { return quoted_; }

 private:
  FieldPath() = default;

  std::vector<std::string> steps_;
  std::string quoted_;
};

// Owns a parser's buffers: one per thread. Records must lie in an arena (kReadAhead). Only what is
// on the way to the field is checked; a record may be damaged behind it.
class FieldReader {
 public:
  FieldReader();
  ~FieldReader();
  FieldReader(FieldReader&&) noexcept;

  Field find(Record record, const FieldPath& path);
  // At the start of a slice: what was seen before may not decide which of two equal keys is found.
  void forget();
  // All members of the top level, in their order. False: the record is no JSON object.
  bool members(Record record, std::vector<Member>& out);

 private:
  Field find_escaped(Record record, const FieldPath& path);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The text of a JSON string; `scratch` holds it if it had escapes. Nothing for other kinds.
std::string_view text_of(const Field& field, std::string& scratch);
bool number_of(const Field& field, double& out);

}  // namespace plim::flow
