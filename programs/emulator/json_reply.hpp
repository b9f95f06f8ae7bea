#pragma once

#include <emulator/field_mask.hpp>
#include <emulator/json_value.hpp>
#include <emulator/message.hpp>
#include <emulator/object_json.hpp>
#include <emulator/route.hpp>
#include <emulator/stored_object.hpp>

#include <string>

namespace emulator {

/// What `fields` asks for; everything without it. Throws service_error 400 outside its grammar.
field_mask wanted_fields(const call& asked);

/// What `projection` asks for; `otherwise` without it. Throws service_error 400 for another word.
projection wanted_projection(const call& asked, projection otherwise = projection::no_acl);

http_reply json_reply(std::string text);

/// The Object resource, with only the fields asked for.
http_reply object_reply(const call& asked, const http_request& request, const stored_object& object,
                        projection otherwise = projection::no_acl);

/// Sets the list of access that the query names, if it names one. Throws service_error 400.
void take_predefined_access(object_metadata& metadata, const query_parameters& query,
                            std::string_view parameter);

/// The request's document; an empty body, or null, is an empty object. Throws service_error 400
/// when it is none.
json_value body_document(const http_request& request);

}  // namespace emulator
