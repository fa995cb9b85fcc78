/* SPDX-License-Identifier: Apache-2.0 */
/* Text inside XML (SVG, GraphML), in an element or between double quotes: what every writer of it needs, and no more.
 */
#ifndef ORR_IO_XML_TEXT_H
#define ORR_IO_XML_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Characters that XML 1.0 does not have, even as references, become spaces. Errors are the stream's. */
void io_xml_text(FILE *stream, const char *text, size_t length);
void io_xml_put(FILE *stream, const char *text); /* all of it */

#endif
