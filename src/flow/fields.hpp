// Reads single fields of a raw record without parsing all of it.
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
  FieldKind kind = FieldKind::missing;  // broken: the record is not a JSON object
  std::string_view raw = {};            // the value's JSON text inside the record
};

// A member of a record. `begin` is at the quote of its key.
struct Member {
  std::string_view key;    // without quotes, escapes unchanged
  std::string_view value;  // JSON text
  const char* begin = nullptr;
};

// The key with its escapes decoded; `scratch` holds the result if there were any.
std::string_view plain_key(const Member& member, std::string& scratch);
// The member with this name, also if its key has escapes; null if there is none.
const Member* find_member(const std::vector<Member>& members, std::string_view name);

// A path "a.b.c", split once.
class FieldPath {
 public:
  explicit FieldPath(std::string_view dotted);
  // One key, which may contain dots.
  static FieldPath of_key(std::string_view key);

  const std::vector<std::string>& steps() const { return steps_; }

  // The quoted key if the path has one step without escapes; else empty.
  const std::string& quoted() const { return quoted_; }

 private:
  FieldPath() = default;

  std::vector<std::string> steps_;
  std::string quoted_;
};

// Owns the buffers of a parser: use one per thread. Records must be in an arena (kReadAhead).
// Checks only the part of a record before the field; the rest may be damaged.
class FieldReader {
 public:
  FieldReader();
  ~FieldReader();
  FieldReader(FieldReader&&) noexcept;

  Field find(Record record, const FieldPath& path);
  // Call it at the start of a slice: earlier records must not decide which of two equal keys is
  // found.
  void forget();
  // All members of the top level, in order. Returns false if the record is not a JSON object.
  bool members(Record record, std::vector<Member>& out);

 private:
  Field find_escaped(Record record, const FieldPath& path);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The text of a JSON string; `scratch` holds it if it has escapes. Empty for other kinds.
std::string_view text_of(const Field& field, std::string& scratch);
bool number_of(const Field& field, double& out);

}  // namespace plim::flow
