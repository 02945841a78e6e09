// set_field, copy_field, drop_field: patch the bytes of a record. All other bytes are copied
// unchanged, including numbers and white space.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "flow/fields.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

Error not_an_object(std::size_t index) {
  return fail(Code::invalid, fmt::format("record {} of the slice is not a JSON object", index + 1));
}

// The name as written between quotes in JSON.
std::string escaped(std::string_view name) {
  std::string out;
  append_json_string(out, name);
  return out.substr(1, out.size() - 2);
}

// Rewrites one record with one change.
class Patch {
 public:
  Patch(Record record, Arena& arena) : record_(record), arena_(arena) {}

  Record replace(std::string_view value, std::string_view by) const {
    return join({before(value.data()), by, after(value.data() + value.size())});
  }

  // Adds a member after the last one.
  Record add(const std::vector<Member>& members, std::string_view key,
             std::string_view value) const {
    const char* end = members.empty() ? record_.data() + record_.find('{') + 1
                                      : members.back().value.data() + members.back().value.size();
    return join({before(end), members.empty() ? "\"" : ",\"", key, "\":", value, after(end)});
  }

  // Removes a member with the comma after it, or before it if it is the last one.
  Record drop(const std::vector<Member>& members, const Member& member) const {
    const auto index = static_cast<std::size_t>(&member - members.data());
    const char* from = member.begin;
    const char* to = member.value.data() + member.value.size();
    if (index + 1 < members.size())
      to = members[index + 1].begin;
    else if (index > 0)
      from = members[index - 1].value.data() + members[index - 1].value.size();
    return join({before(from), after(to)});
  }

 private:
  std::string_view before(const char* at) const { return {record_.data(), at}; }

  std::string_view after(const char* at) const { return {at, record_.data() + record_.size()}; }

  Record join(std::initializer_list<std::string_view> pieces) const {
    std::size_t size = 0;
    for (std::string_view piece : pieces) size += piece.size();
    char* out = arena_.allocate(size);
    char* at = out;
    for (std::string_view piece : pieces) at = std::ranges::copy(piece, at).out;
    return {out, size};
  }

  Record record_;
  Arena& arena_;
};

class SetField final : public Operation {
 public:
  explicit SetField(const json::object& options)
      : name_(text_option(options, "field")),
        field_(escaped(name_)),
        value_(to_json(options.contains("value") ? options.at("value") : json::value())),
        overwrite_(bool_option(options, "overwrite")) {}

  Result<void> process(SliceContext&, Batch& batch) override {
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Record& record = batch.records[i];
      if (!reader_.members(record, members_)) return not_an_object(i);
      const Member* there = find_member(members_, name_);
      if (there == nullptr)
        record = Patch(record, batch.arena).add(members_, field_, value_);
      else if (overwrite_)
        record = Patch(record, batch.arena).replace(there->value, value_);
    }
    return {};
  }

 private:
  std::string name_;
  std::string field_;  // as written in JSON
  std::string value_;
  bool overwrite_;
  FieldReader reader_;
  std::vector<Member> members_;
};

class CopyField final : public Operation {
 public:
  explicit CopyField(const json::object& options)
      : from_(text_option(options, "source")),
        to_(text_option(options, "destination")),
        delete_source_(bool_option(options, "delete_source")) {}

  Result<void> process(SliceContext&, Batch& batch) override {
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Record& record = batch.records[i];
      if (!reader_.members(record, members_)) return not_an_object(i);
      const Member* source = find_member(members_, from_);
      if (source == nullptr) continue;
      const Member* there = find_member(members_, to_);
      Patch patch(record, batch.arena);
      record = there != nullptr ? patch.replace(there->value, source->value)
                                : patch.add(members_, escaped(to_), source->value);
      if (!delete_source_) continue;
      if (!reader_.members(record, members_)) return not_an_object(i);
      record = Patch(record, batch.arena).drop(members_, *find_member(members_, from_));
    }
    return {};
  }

 private:
  std::string from_, to_;
  bool delete_source_;
  FieldReader reader_;
  std::vector<Member> members_;
};

class DropField final : public Operation {
 public:
  explicit DropField(const json::object& options) : name_(text_option(options, "field")) {}

  Result<void> process(SliceContext&, Batch& batch) override {
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
      Record& record = batch.records[i];
      if (!reader_.members(record, members_)) return not_an_object(i);
      if (const Member* there = find_member(members_, name_))
        record = Patch(record, batch.arena).drop(members_, *there);
    }
    return {};
  }

 private:
  std::string name_;
  FieldReader reader_;
  std::vector<Member> members_;
};

}  // namespace

Result<std::unique_ptr<Operation>> make_set_field(const json::object& options) {
  return std::make_unique<SetField>(options);
}

Result<std::unique_ptr<Operation>> make_copy_field(const json::object& options) {
  return std::make_unique<CopyField>(options);
}

Result<std::unique_ptr<Operation>> make_drop_field(const json::object& options) {
  return std::make_unique<DropField>(options);
}

}  // namespace plim::flow
