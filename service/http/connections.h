/* How long a connection may take, and who goes when there are too many.
 *
 * A connection waits for a request, brings its body, is worked on, takes its answer, and waits again. Each step but the
 * work has a deadline for the whole of it, so that a byte now and then does not hold a place for ever. When all places
 * are taken, or all those of one address, a newcomer gets the place of the one that has been waiting longest (with one
 * that brings a body, then with one that takes an answer, only where nobody waits): whoever asks promptly, a health
 * check among them, is answered however many hold their places. Work and event streams are never cut short; streams
 * leave an eighth of the places to others.
 */
#ifndef HW_HTTP_CONNECTIONS_H
#define HW_HTTP_CONNECTIONS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct hw__connections hw__connections;

/* In the order in which they give way. */
typedef enum { HW_STEP_HEAD, HW_STEP_BODY, HW_STEP_ANSWER, HW_STEP_WORK, HW_STEP_STREAM } hw__connection_step;

/* per_address 0: as many as there are. NULL without memory or threads. */
hw__connections *hw__connections_create(size_t most, size_t per_address);
/* After the daemon was stopped. */
void hw__connections_free(hw__connections *connections);
/* What the daemon has to take at once so that those who give way have time to leave. */
unsigned hw__connections_room(const hw__connections *connections);
/* libmicrohttpd's MHD_OPTION_NOTIFY_CONNECTION; the context is the hw__connections. */
void hw__connections_notify(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code);
/* The connection's next step begins. False for a stream where they have all the places they may have. */
bool hw__connections_step(hw__connections *connections, struct MHD_Connection *connection, hw__connection_step step);

#endif
