#include <simdjson.h>

#include "local/apiserver/api/selection.hpp"
#include "local/apiserver/api/selection_memory.hpp"

namespace plim::local::apiserver {
namespace {

namespace ondemand = simdjson::ondemand;

// The parser reads beyond the end of its input, so stored bytes are copied to a padded buffer; that
// costs far less than parsing.
struct Scratch {
  ondemand::parser parser;
  std::string text;

  ondemand::document open(std::string_view bytes) {
    text.reserve(bytes.size() + simdjson::SIMDJSON_PADDING);
    text = bytes;
    ondemand::document out;
    const auto broken = parser.iterate(text.data(), text.size(), text.capacity()).get(out);
    PLIM_ASSERT(!broken);  // the store holds what we encoded
    return out;
  }
};

Scratch& scratch() {
  thread_local Scratch out;
  return out;
}

bool enter(ondemand::object& here, std::string_view key) {
  ondemand::object inner;
  if (here.find_field_unordered(key).get_object().get(inner)) return false;
  here = inner;
  return true;
}

// Strings as they are, numbers and booleans as in JSON; of a list the first element, as upstream
// does for podIPs.
std::optional<std::string> value_at(ondemand::document& document,
                                    const std::vector<std::string>& path) {
  document.rewind();
  ondemand::object here;
  if (document.get_object().get(here)) return std::nullopt;
  for (std::size_t i = 0; i + 1 < path.size(); ++i)
    if (!enter(here, path[i])) return std::nullopt;
  ondemand::value value;
  if (here.find_field_unordered(path.back()).get(value)) return std::nullopt;
  std::string_view text;
  if (!value.get_string().get(text)) return std::string(text);
  bool flag = false;
  if (!value.get_bool().get(flag)) return flag ? "true" : "false";
  std::int64_t number = 0;
  if (!value.get_int64().get(number)) return std::to_string(number);
  return std::nullopt;
}

using Labels = ObjectFacts::Labels;

Labels labels_of(ondemand::document& document) {
  Labels out;
  document.rewind();
  ondemand::object here;
  if (document.get_object().get(here) || !enter(here, "metadata") || !enter(here, "labels"))
    return out;
  for (auto result : here) {
    ondemand::field field;
    std::string_view key, text;
    if (std::move(result).get(field) || field.unescaped_key().get(key) ||
        field.value().get_string().get(text))
      continue;
    out.emplace_back(key, text);
  }
  return out;
}

}  // namespace

std::string field_text(std::string_view bytes, const std::vector<std::string>& path) {
  ondemand::document document = scratch().open(bytes);
  return value_at(document, path).value_or("");
}

const std::optional<std::string>& ObjectFacts::field(const std::vector<std::string>& path) {
  for (const Field& known : fields_)
    if (known.path == path) return known.value;
  ondemand::document document = scratch().open(*entry_->value);
  return fields_.emplace_back(Field{path, value_at(document, path)}).value;
}

const ObjectFacts::Labels& ObjectFacts::labels() {
  if (!labels_) {
    ondemand::document document = scratch().open(*entry_->value);
    labels_ = labels_of(document);
  }
  return *labels_;
}

ObjectFacts& SelectionMemory::facts_of(const store::EntryPtr& entry) {
  // Entries are heap-allocated, so the lowest bits of their addresses are constant.
  const auto address = reinterpret_cast<std::uintptr_t>(entry.get());
  ObjectFacts& place = places_[(address / alignof(std::max_align_t)) % kPlaces];
  if (place.entry() != entry) place = ObjectFacts(entry);
  return place;
}

bool Selection::matches(ObjectFacts& facts) const {
  for (const FieldTest& test : fields_) {
    const std::optional<std::string>& value = facts.field(test.path);
    if (((value ? *value : test.fallback) == test.value) != test.equals) return false;
  }
  for (const kube::LabelRequirement& one : labels_)
    if (!one.matches(kube::find_label(facts.labels(), one.key))) return false;
  return true;
}

bool Selection::matches(std::string_view bytes) const {
  if (is_everything()) return true;
  ondemand::document document = scratch().open(bytes);
  for (const FieldTest& test : fields_)
    if ((value_at(document, test.path).value_or(test.fallback) == test.value) != test.equals)
      return false;
  if (labels_.empty()) return true;
  const Labels labels = labels_of(document);
  for (const kube::LabelRequirement& one : labels_)
    if (!one.matches(kube::find_label(labels, one.key))) return false;
  return true;
}

}  // namespace plim::local::apiserver
