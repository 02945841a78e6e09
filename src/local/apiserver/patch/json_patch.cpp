// RFC 6902 with the additions of the upstream API server: negative indices count from the end, and
// the bytes that copies add are limited.
#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/patch/patch.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopied = 3u << 20;

using Tokens = std::vector<std::string>;
using Path = std::span<const std::string>;

// "/a~1b/0" is {"a/b", "0"}; the empty string is the whole document.
Result<Tokens> parse_pointer(std::string_view text) {
  Tokens out;
  if (text.empty()) return out;
  if (text.front() != '/')
    return fail(Code::invalid, fmt::format("{} does not begin with a slash", quote(text)));
  for (std::string_view part : split(text.substr(1), '/')) {
    std::string token;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const bool escaped = part[i] == '~' && i + 1 < part.size();
      if (escaped && (part[i + 1] == '0' || part[i + 1] == '1'))
        token += part[++i] == '0' ? '~' : '/';
      else
        token += part[i];
    }
    out.push_back(std::move(token));
  }
  return out;
}

Error missing(std::string_view token) {
  return fail(Code::invalid, fmt::format("{} does not exist", quote(token)));
}

Result<std::size_t> parse_index(std::string_view token, std::size_t size) {
  auto index = parse_int<std::int64_t>(token);
  if (!index) return fail(Code::invalid, fmt::format("{} is not a list index", quote(token)));
  if (*index < 0) *index += static_cast<std::int64_t>(size);
  if (*index < 0 || *index >= static_cast<std::int64_t>(size)) return missing(token);
  return static_cast<std::size_t>(*index);
}

Result<json::value*> find_at(json::value& document, Path path) {
  json::value* here = &document;
  for (const std::string& token : path) {
    if (json::object* object = here->if_object()) {
      here = object->if_contains(token);
      if (!here) return missing(token);
    } else if (json::array* array = here->if_array()) {
      PLIM_TRY(std::size_t index, parse_index(token, array->size()));
      here = &(*array)[index];
    } else {
      return missing(token);
    }
  }
  return here;
}

std::size_t depth_of(const json::value& value) {
  std::size_t deepest = 0;
  if (const json::object* object = value.if_object()) {
    for (const json::key_value_pair& member : *object)
      deepest = std::max(deepest, depth_of(member.value()));
  } else if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) deepest = std::max(deepest, depth_of(element));
  } else {
    return 0;
  }
  return deepest + 1;
}

// Copying a document into itself doubles its depth each time, and all readers recurse.
Result<void> check_depth(Path path, const json::value& value) {
  if (path.size() + depth_of(value) > kMaxJsonDepth)
    return fail(Code::invalid, "the document would be nested too deeply");
  return {};
}

Result<void> add(json::value& document, Path path, json::value value) {
  PLIM_CHECK(check_depth(path, value));
  if (path.empty()) {
    document = std::move(value);
    return {};
  }
  const std::string& last = path.back();
  PLIM_TRY(json::value * parent, find_at(document, path.first(path.size() - 1)));
  if (json::object* object = parent->if_object()) {
    (*object)[last] = std::move(value);
    return {};
  }
  json::array* array = parent->if_array();
  if (!array) return missing(last);
  std::size_t index = array->size();
  if (last != "-") {
    PLIM_TRY(index, parse_index(last, array->size() + 1));
  }
  array->insert(array->begin() + index, std::move(value));
  return {};
}

Result<json::value> remove(json::value& document, Path path) {
  if (path.empty()) return fail(Code::invalid, "the whole document cannot be removed");
  PLIM_TRY(json::value * found, find_at(document, path));
  json::value out = std::move(*found);
  PLIM_TRY(json::value * parent, find_at(document, path.first(path.size() - 1)));
  if (json::object* object = parent->if_object()) {
    object->stable_erase(object->find(path.back()));
  } else {
    json::array& array = parent->get_array();
    PLIM_TRY(std::size_t index, parse_index(path.back(), array.size()));
    array.erase(array.begin() + index);
  }
  return out;
}

class Patcher {
 public:
  explicit Patcher(json::value document) : document_(std::move(document)) {}

  Result<void> run(const json::value& operation) {
    const std::string_view op = text_at(operation, {"op"});
    PLIM_TRY(Tokens path, pointer(operation, "path"));
    if (op == "remove") {
      PLIM_CHECK(remove(document_, path));
      return {};
    }
    if (op == "move" || op == "copy") {
      PLIM_TRY(Tokens from, pointer(operation, "from"));
      return op == "move" ? move(from, path) : copy(from, path);
    }
    const json::value* value = find(operation, {"value"});
    if (op == "test") return test(path, value ? *value : json::value());
    if (op != "add" && op != "replace")
      return fail(Code::invalid, fmt::format("unknown operation {}", quote(op)));
    if (!value) return fail(Code::invalid, "it has no value");
    if (op == "add") return add(document_, path, *value);
    PLIM_TRY(json::value * target, find_at(document_, path));
    PLIM_CHECK(check_depth(path, *value));
    *target = *value;
    return {};
  }

  json::value take() { return std::move(document_); }

 private:
  static Result<Tokens> pointer(const json::value& operation, std::string_view name) {
    const json::value* found = find(operation, {name});
    if (!found || !found->is_string())
      return fail(Code::invalid, fmt::format("it has no {}", quote(name)));
    return parse_pointer(text_at(operation, {name}));
  }

  Result<void> move(Path from, Path to) {
    PLIM_TRY(json::value value, remove(document_, from));
    return add(document_, to, std::move(value));
  }

  Result<void> copy(Path from, Path to) {
    PLIM_TRY(json::value * source, find_at(document_, from));
    copied_ += to_json(*source).size();
    if (copied_ > kMaxCopied)
      return fail(Code::invalid, fmt::format("copies add more than {} bytes", kMaxCopied));
    return add(document_, to, *source);
  }

  // A test for null passes if the value is missing, as upstream.
  Result<void> test(Path path, const json::value& expected) {
    auto found = find_at(document_, path);
    if (!found && !expected.is_null()) return found.error();
    if (found && **found != expected) return fail(Code::invalid, "the value differs");
    return {};
  }

  json::value document_;
  std::size_t copied_ = 0;
};

}  // namespace

Result<json::value> apply_json_patch(json::value object, const json::value& patch) {
  const json::array* operations = patch.if_array();
  if (!operations) return fail(Code::bad_request, "a JSON patch must be a list of operations");
  if (operations->size() > kMaxOperations)
    return fail(Code::too_large,
                fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                            kMaxOperations, operations->size()));
  for (const json::value& operation : *operations) {
    if (!operation.is_object())
      return fail(Code::bad_request, "an operation of a JSON patch must be an object");
  }
  Patcher patcher(std::move(object));
  for (const json::value& operation : *operations) {
    if (auto done = patcher.run(operation); !done) {
      Error error = std::move(done).error();
      error.message = fmt::format("{} operation does not apply: {}: {}", text_at(operation, {"op"}),
                                  text_at(operation, {"path"}), error.message);
      return error;
    }
  }
  return patcher.take();
}

}  // namespace plim::local::apiserver
